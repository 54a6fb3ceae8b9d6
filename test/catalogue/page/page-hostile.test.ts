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
    it('with 32,000 blank lines: runs of blanks in front matter are refused by rule', () => {
      for (const blank of ['\n', ' ', '\t', '\r\n', '\u00a0', '\u2028', ' \n'])
        match(
          fault(`---\n{}${blank.repeat(32_000)}\n---\n`),
          /^\d+:\d+ blank-run more than 200 blank characters in a row: remove them$/,
        );
      match(fault(`---\n${'\n'.repeat(32_000)}{}\n---\n`), /^2:1 blank-run /);
    });

    it('with blanks in the markdown, where they are harmless', () => {
      strictEqual(good(withFrontMatter('{}', `${'\n'.repeat(200_000)}x`)).page, 'x');
      strictEqual(good(withFrontMatter('{}', ' '.repeat(200_000))).page, '');
      strictEqual(good(withFrontMatter('{}', '#\n \n'.repeat(50_000))).page.length, 199_997);
    });

    it('with comment lines, which gray-matter strips one by one', () => {
      match(fault(withFrontMatter('#\n'.repeat(100_000))), /^2:1 json /);
    });

    it('with deep nesting: more than eight levels are refused', () => {
      for (const depth of [9, 100, 100_000])
        match(
          fault(withFrontMatter(`{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`)),
          /8 levels deep: /,
        );
      match(fault(withFrontMatter('{"a":'.repeat(40_000))), /8 levels deep: /);
      good(withFrontMatter(`{"a":${'['.repeat(7)}${']'.repeat(7)}}`));
    });

    it('with many brackets side by side, which are no nesting', () => {
      match(fault(withFrontMatter(`{"a": [${'[],'.repeat(2000)}]}`)), /^2:6008 trailing-comma /);
    });

    it('with conflict markers by the thousand', () => {
      good(withFrontMatter('{}', '<<<<<<< \n'.repeat(29_000)));
      good(withFrontMatter('{}', '<<<<<<< \n=======\n'.repeat(15_000)));
    });

    it('with tens of thousands of duplicate keys: the first hundred are reported', () => {
      strictEqual(parse(withFrontMatter(`{${'"a":1,\n'.repeat(30_000)}"a":1}`)).faults.length, 100);
    });

    it('with an escaped quote after the other', () => {
      match(fault(withFrontMatter(`{"a": "${'\\"'.repeat(100_000)}`)), /json /);
      strictEqual(good(withFrontMatter(`{"a": "${'\\"'.repeat(100_000)}"}`)).page, '');
    });
  });

  it('may not reach into the prototype: "__proto__" is a key like any other', () => {
    const page = good(withFrontMatter('{"__proto__": {"nsfw": true}}'));
    deepStrictEqual(Object.keys(page.data), ['__proto__']);
    strictEqual(page.data['nsfw'], undefined);
    strictEqual(page.faultAt(['__proto__'], 'rule', 'message', true).column, 2);
  });
});
