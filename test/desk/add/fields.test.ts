import { strictEqual } from 'node:assert/strict';
import { mainFields, withSchemes } from '../../../src/desk/add/fields.ts';

describe('a link in the form', () => {
  for (const [text, link] of [
    ['example.org', 'https://example.org'],
    [' example.org/invite?a=b ', 'https://example.org/invite?a=b'],
    ['example.org:8080/a', 'https://example.org:8080/a'],
    ['https://example.org/a', 'https://example.org/a'],
    ['http://example.org/a', 'http://example.org/a'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
    ['mailto:a@example.org', 'mailto:a@example.org'],
    ['a@example.org', 'a@example.org'],
    ['homer', 'homer'],
  ] as const) {
    it(`${JSON.stringify(text)} becomes ${JSON.stringify(link)}`, () =>
      strictEqual(withSchemes(mainFields, { invite: text }).invite, link));
  }

  it('is one of several, one per line', () =>
    strictEqual(
      withSchemes(mainFields, { preview: 'a.org/1.png\r\nhttps://a.org/2.png' }).preview,
      'https://a.org/1.png\nhttps://a.org/2.png',
    ));

  it('may have commas, which separate links before a blank or the next one only', () => {
    for (const [preview, links] of [
      [
        'https://a.org/w_300,h_200/1.png\nb.org/a,b.png',
        'https://a.org/w_300,h_200/1.png\nhttps://b.org/a,b.png',
      ],
      ['a.org/1.png, a.org/2.png,', 'https://a.org/1.png\nhttps://a.org/2.png'],
      ['https://a.org/1.png,https://a.org/2.png', 'https://a.org/1.png\nhttps://a.org/2.png'],
    ] as const)
      strictEqual(withSchemes(mainFields, { preview }).preview, links);
  });
});
