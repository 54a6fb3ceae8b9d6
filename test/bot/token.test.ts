import { match, ok, strictEqual } from 'node:assert/strict';
import { createToken, parseToken, isSameDigest, type Token, computeDigest } from '../../src/bot/token.ts';
import { fixtureLines } from '../support/fixture-lines.ts';

describe('a token', () => {
  for (const text of fixtureLines('tokens-valid.txt')) {
    it(`may be ${text}`, () => strictEqual(parseToken(text), text));
  }

  for (const text of fixtureLines('tokens-invalid.txt')) {
    it(`is never ${text}`, () => strictEqual(parseToken(text), undefined));
  }

  it('is forgiven the white space around it', () => {
    const token = createToken();
    for (const text of [`${token}\n`, `  ${token}`, `\t${token}\r\n`]) strictEqual(parseToken(text), token);
  });

  it('is another one each time, and reads as the one it is', () => {
    const tokens = Array.from({ length: 1000 }, createToken);
    strictEqual(new Set(tokens).size, 1000);
    for (const token of tokens) strictEqual(parseToken(token), token);
  });

  it('shows every changed letter by its checksum', () => {
    const token = createToken();
    for (let i = 4; i < token.length; i++) {
      const changed = token.slice(0, i) + (token[i] === 'a' ? 'b' : 'a') + token.slice(i + 1);
      strictEqual(parseToken(changed), undefined, changed);
    }
  });
});

describe("a token's digest", () => {
  it('is its SHA-256, in hex', () => {
    const [token = ''] = fixtureLines('tokens-valid.txt');
    strictEqual(
      computeDigest(token as Token),
      'sha256:a57fb41e2839e4a79acab7dbc91d3fcfc29f193c7bee288ea11d7bad10f33374',
    );
    match(computeDigest(createToken()), /^sha256:[0-9a-f]{64}$/);
  });

  it('is the same for the same token only', () => {
    const [a, b] = [createToken(), createToken()];
    ok(isSameDigest(computeDigest(a), computeDigest(a)));
    ok(!isSameDigest(computeDigest(a), computeDigest(b)));
  });
});
