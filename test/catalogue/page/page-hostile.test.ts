import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert/strict';
import matter from 'gray-matter';
import { editPage } from '../../../src/catalogue/page/page.ts';
import { fault, good, homer, parse, withFrontMatter } from '../../support/page-file.ts';

describe('a page file of a stranger', () => {
  describe('passes gray-matter nothing that it misreads', () => {
    const evil = '{ "name": (globalThis.ran = true, "x") }\n';

    it('runs code from a file: a page that names a language is refused and not run', () => {
      for (const opener of ['---js', '---javascript', '--- js', '---coffee'])
        fault(`${opener}\n${evil}---\n`);
      ok(!('ran' in globalThis));
    });

    it('runs code from a file: there is no engine left that could', () => {
      for (const language of ['js', 'javascript', 'JavaScript'])
        throws(() => matter(`---${language}\n${evil}---\n`, {}), language);
      ok(!('ran' in globalThis));
    });

    it('stringify parses the text first: an edit of a page that begins with ---js runs nothing', () => {
      const file = withFrontMatter('{"name": "Homer"}', `---js\n${evil}---\n`);
      const edited = editPage(file, { name: 'Marge' });
      strictEqual(edited, file.replace('Homer', 'Marge'));
      strictEqual(good(edited).data['name'], 'Marge');
      ok(!('ran' in globalThis));
    });

    it('caches by content: a file that failed once fails again, with the same words', () => {
      const bad = withFrontMatter('{"name": }');
      strictEqual(fault(bad), fault(bad));
      match(fault(bad), /^2:10 json /);
    });

    it('callers share one mutable object: each reading has its own', () => {
      good(homer).data['name'] = 'Bart';
      deepStrictEqual(good(homer).data, { name: 'Homer' });
    });

    it('keys of one name in different objects are no duplicates', () => {
      good(withFrontMatter('{"a": {"b": 1}, "c": [{"b": 1}, {"b": 1}], "d\\"": ":"}'));
    });

    it('a line of a heading or a quote is no conflict', () => {
      good(withFrontMatter('{}', 'Heading\n=======\n\n> quoted\n>>>>>>> deeply\n'));
    });
  });

  describe('cannot hold the process up', () => {
    const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    const blanks = ['\n', ' ', '\t', '\r\n', '\u00a0', '\u2028', ' \n'];
    for (const [title, expected, ...files] of [
      [
        'with 32,000 blanks in front matter, which are refused by rule',
        /^\d+:\d+ blank-run more than 200 blank characters in a row: remove them$/,
        ...blanks.map((blank) => `---\n{}${blank.repeat(32_000)}\n---\n`),
        `---\n${'\n'.repeat(32_000)}{}\n---\n`,
      ],
      [
        'with comment lines, which gray-matter strips one by one',
        /^2:1 json /,
        withFrontMatter('#\n'.repeat(100_000)),
      ],
      [
        'with deep nesting: more than eight levels are refused',
        /8 levels deep: /,
        ...[9, 100, 100_000].map((depth) => withFrontMatter(nested(depth))),
        withFrontMatter('{"a":'.repeat(40_000)),
      ],
      [
        'with many brackets side by side, which are no nesting',
        /^2:6008 trailing-comma /,
        withFrontMatter(`{"a": [${'[],'.repeat(2000)}]}`),
      ],
      ['with an escaped quote after the other', /json /, withFrontMatter(`{"a": "${'\\"'.repeat(100_000)}`)],
    ] as const)
      it(title, () => {
        for (const file of files) match(fault(file), expected);
      });

    it('where it is right: with blanks and conflict markers in the markdown, eight levels and escaped quotes', () => {
      strictEqual(good(withFrontMatter('{}', `${'\n'.repeat(200_000)}x`)).page, 'x');
      strictEqual(good(withFrontMatter('{}', ' '.repeat(200_000))).page, '');
      strictEqual(good(withFrontMatter('{}', '#\n \n'.repeat(50_000))).page.length, 199_997);
      for (const text of ['<<<<<<< \n'.repeat(29_000), '<<<<<<< \n=======\n'.repeat(15_000)])
        good(withFrontMatter('{}', text));
      for (const json of [nested(8), `{"a": "${'\\"'.repeat(100_000)}"}`]) good(withFrontMatter(json));
    });

    it('with tens of thousands of duplicate keys: the first hundred are reported', () => {
      strictEqual(parse(withFrontMatter(`{${'"a":1,\n'.repeat(30_000)}"a":1}`)).faults.length, 100);
    });
  });

  it('may not reach into the prototype: "__proto__" is a key like any other', () => {
    const page = good(withFrontMatter('{"__proto__": {"nsfw": true}}'));
    deepStrictEqual(Object.keys(page.data), ['__proto__']);
    strictEqual(page.data['nsfw'], undefined);
    strictEqual(page.faultAt(['__proto__'], 'rule', 'message', true).column, 2);
  });
});
