import { strictEqual } from 'node:assert/strict';
import { isExpiring, toAsciiAddress } from '../../src/bot/address.ts';

describe('an address', () => {
  for (const [text, ascii] of [
    ['https://example.org', 'https://example.org'],
    ['https://Example.org/a?b={c}|d#e%20f', 'https://Example.org/a?b={c}|d#e%20f'],
    ['https://exämple.org/straße?q=ü', 'https://xn--exmple-cua.org/stra%C3%9Fe?q=%C3%BC'],
    ['https://example.org/%zz%2', 'https://example.org/%25zz%252'],
    ['https://example.org/a\u200Bb\u202Ec', 'https://example.org/abc'],
    ['https://exam\u200Bple.org/', 'https://example.org/'],
    ['https://exam\u202Eple.org/', undefined],
    ['example.org', undefined],
  ] as const)
    it(`in ASCII is ${ascii} for ${JSON.stringify(text)}`, () => strictEqual(toAsciiAddress(text), ascii));

  for (const [query, expected] of [
    ['?ex=67a1b2c3&is=67a06143&hm=0a1b', true],
    ['?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-Signature=a', true],
    ['?X-Goog-Expires=600&X-Goog-Signature=a', true],
    ['?Expires=1700000000&Signature=a&Key-Pair-Id=b', true],
    ['?sv=2022-11-02&se=2024-01-01T00%3A00%3A00Z&sig=a', true],
    ['?jwt=eyJhbGciOi', true],
    ['', false],
    ['?size=512&format=webp', false],
    ['?ex=ample&example=67a1b2c3&index=7', false],
    ['?expires=never', false],
    ['#?ex=', false],
  ] as const)
    it(`with ${query || 'no query'} ${expected ? 'expires' : 'stays'}`, () =>
      strictEqual(isExpiring(`https://example.org/a.png${query}`), expected));
});
