import { ok, strictEqual, throws } from 'node:assert/strict';
import * as fc from 'fast-check';
import { editPage } from '../../../src/catalogue/page/page.ts';
import { good, parse } from '../../support/page-file.ts';

describe('an edit of a page file', () => {
  const key = fc.constantFrom('category', 'nsfw', 'oauth', 'website', 'edited', 'é"\\');
  const value = fc.oneof(fc.string(), fc.boolean(), fc.constant(null), fc.nat());
  const values = fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true });
  const others = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true });
  const layout = fc.constantFrom(0, 1, 2, 4, '\t', '\t\t');
  const page = fc.string({ unit: 'grapheme' }).map((text) => `${text}\n---\n\n"nsfw": true\n`);

  const files = fc
    .record({ others, values, indent: layout, page, crlf: fc.boolean() })
    .map(({ others, values, indent, page, crlf }) => {
      const text = `---\n${JSON.stringify({ ...others, ...values }, null, indent)}\n---\n${page}`;
      return crlf ? text.replaceAll(/\r?\n/g, '\r\n') : text;
    })
    .filter((text) => parse(text).page !== undefined);

  it('changes the named keys and nothing else', () => {
    fc.assert(
      fc.property(files, values, (file, changes) => {
        const before = good(file);
        const edited = editPage(file, changes);
        const after = good(edited);
        strictEqual(JSON.stringify(after.data), JSON.stringify({ ...before.data, ...changes }));
        strictEqual(after.page, before.page);
        const closer = file.indexOf('\n---', 3);
        ok(edited.endsWith(file.slice(closer)), 'what is below the front matter');
        strictEqual(edited.includes('\r\n'), file.includes('\r\n'));
        strictEqual(/[^\r]\n/.test(edited), /[^\r]\n/.test(file), 'one kind of line end');
      }),
      { numRuns: 500 },
    );
  });

  it('leaves every line of other keys as it is, however it is written', () => {
    const odd =
      '---\r\n{ "name" :  "Homer" ,\r\n\t"authors":["1" ,"2"], "nsfw":false,\r\n   "random":5e-1 }\r\n---\r\nx\r\n';
    strictEqual(editPage(odd, { nsfw: true }), odd.replace('"nsfw":false', '"nsfw":true'));
    strictEqual(
      editPage(odd, { oauth: null }),
      odd.replace('"random":5e-1 }', '"random":5e-1,"oauth":null }'),
    );
  });

  it('puts a new key on a line of its own, indented as the others', () => {
    for (const [indent, eol] of [
      ['  ', '\n'],
      ['\t', '\n'],
      ['    ', '\r\n'],
      ['\t', '\r\n'],
    ] as const) {
      const file = (more: string): string =>
        ['---', '{', `${indent}"name": "Homer"${more}`, '}', '---', 'x'].join(eol);
      const added = `,${eol}${indent}"nsfw": true,${eol}${indent}"oauth": "7"`;
      strictEqual(editPage(file(''), { nsfw: true, oauth: '7' }), file(added));
    }
  });

  it('keeps front matter on one line', () => {
    strictEqual(editPage('---\n{"a":[1, 2]}\n---\n', { b: 1 }), '---\n{"a":[1, 2],"b":1}\n---\n');
    strictEqual(editPage('---\n{}\n---\n', { b: 1 }), '---\n{"b":1}\n---\n');
  });

  it('keeps digits that a number would lose', () => {
    const file = '---\n{\n  "random": 0.10000000000000000000001,\n  "nsfw": false\n}\n---\n';
    strictEqual(editPage(file, { nsfw: true }), file.replace('false', 'true'));
  });

  it('refuses a text that is no page file', () => {
    throws(() => editPage('# Homer\n', { nsfw: true }), /make its first line ---/);
    throws(() => editPage('---\n[]\n---\n', { nsfw: true }), /put the keys in \{ \}/);
  });
});
