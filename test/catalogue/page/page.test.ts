import { deepStrictEqual, match, strictEqual, ok, throws } from 'node:assert/strict';
import * as fc from 'fast-check';
import { validate } from '../../../src/bot/validate.ts';
import {
  maxFileSize,
  withDefaults,
  toCanonicalForm,
  editPage,
  findImages,
} from '../../../src/catalogue/page/page.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { hostilePages } from '../../support/hostile-pages.ts';
import { fault, good, homer, parse, withFrontMatter } from '../../support/page-file.ts';
import { mainPage, translation, homerKeys } from '../../support/sample.ts';

describe('a page file', () => {
  it('is its front matter and its markdown', () => {
    const { data, page } = good(translation('Homer', 'Doughnuts.', '# Homer\n\nThe page.\n'));
    deepStrictEqual(data, { name: 'Homer', description: 'Doughnuts.' });
    strictEqual(page, '# Homer\n\nThe page.');
  });

  it('may say that its front matter is JSON, have no markdown, and end without a line end', () => {
    deepStrictEqual(good('---json\n{"name": "Homer"}\n---\n').data, { name: 'Homer' });
    for (const text of ['---\n{}\n---', '---\n{}\n---\n\n \n', '---\r\n{}\r\n---\r'])
      strictEqual(good(text).page, '');
  });

  it('keeps the indentation of its first line, and every --- below', () => {
    strictEqual(good(withFrontMatter('{}', '\n    code\n\n---\n\n---js\n')).page, '    code\n\n---\n\n---js');
  });

  it('reads the same with CRLF, and keeps text of every script', () => {
    const text = mainPage({ name: 'ホーマー 🍩', description: 'Ünïcödé' }, '\u{1F369}');
    const { data, page } = good(text.replaceAll('\n', '\r\n'));
    deepStrictEqual([data, page], [good(text).data, '\u{1F369}']);
    deepStrictEqual([data['name'], data['description']], ['ホーマー 🍩', 'Ünïcödé']);
  });

  describe('is refused before it is read', () => {
    const tooLarge = `1:1 file-size the file has more than ${maxFileSize} bytes: shorten the page`;

    it('when it is larger than 256 KiB, however bad it is otherwise', () => {
      strictEqual(fault(Buffer.alloc(maxFileSize + 1)), tooLarge);
      strictEqual(fault(Buffer.alloc(maxFileSize + 1, 0xff)), tooLarge);
    });

    it('but not when it has 256 KiB exactly', () => {
      const start = withFrontMatter('{}');
      strictEqual(
        good(start + 'x'.repeat(maxFileSize - start.length)).page.length,
        maxFileSize - start.length,
      );
      strictEqual(fault(start + 'x'.repeat(maxFileSize - start.length + 1)), tooLarge);
    });

    const cases: readonly (readonly [string, Buffer, RegExp])[] = [
      [
        'it is not UTF-8, naming the line',
        Buffer.concat([Buffer.from(`${homer}fine ✓\n`), Buffer.from([0x63, 0xe9, 0x0a])]),
        /^5:1 utf-8 this is not UTF-8: save the file as UTF-8$/,
      ],
      ...[
        [0xed, 0xa0, 0x80],
        [0xc0, 0xaf],
        [0xf5, 0x80, 0x80, 0x80],
      ].map((bytes): [string, Buffer, RegExp] => [
        `it holds half a surrogate pair or an overlong form: ${bytes.join(' ')}`,
        Buffer.concat([Buffer.from(homer), Buffer.from(bytes)]),
        /^4:1 utf-8 /,
      ]),
      ['it is UTF-16', Buffer.from(homer, 'utf16le'), /^1:2 nul .*UTF-8$/],
    ];
    for (const [title, file, expected] of cases) it(`when ${title}`, () => match(fault(file), expected));
  });

  describe('has faults with their places and fixes:', () => {
    for (const { input, expected } of readCases('page-faults'))
      it(input, () => {
        const { page, faults } = parse(JSON.parse(input) as string);
        strictEqual(page, undefined);
        deepStrictEqual(
          faults.map(({ line, column, rule, message }) => `${line}:${column} ${rule} ${message}`),
          expected,
        );
      });
  });
});

describe('front matter with the defaults of the schema', () => {
  it('has every default, and what it says itself', () => {
    const value = withDefaults({ ...homerKeys, nsfw: true });
    deepStrictEqual(value, {
      ...homerKeys,
      codehost: { owner: null, repo: null },
      images: { avatar: null, cover: null, preview: [] },
      legacy: false,
      nsfw: true,
      oauth: null,
      support: null,
      trigger: { prefix: [], customisable: false, mentionable: false },
      verified: false,
      website: null,
    });
    deepStrictEqual(validate('main-page', value), []);
  });

  it('has the defaults of parts that it leaves out, and is a copy', () => {
    const value = { ...homerKeys, codehost: { owner: 'o' } };
    deepStrictEqual(withDefaults(value)['codehost'], { owner: 'o', repo: null });
    deepStrictEqual(value, { ...homerKeys, codehost: { owner: 'o' } });
  });
});

function pageOf(json: string, markdown = '\n# A\n'): string {
  return `---\n${json}\n---\n${markdown}`;
}

function jsonOf(text: string): string {
  return text.slice(4, text.indexOf('\n---\n', 4));
}

/** Front matter as people write it: our keys and others, in any order. */
const frontMatter = fc
  .dictionary(
    fc.oneof(fc.constantFrom('name', 'description', 'images', 'trigger', 'created', 'website'), fc.string()),
    fc.jsonValue({ maxDepth: 3 }),
  )
  .filter((data) => !('__proto__' in data && Object.hasOwn(data, '__proto__')));

describe('the canonical form of a page file', () => {
  it('is the form of itself, says the same, and leaves the markdown alone', () => {
    fc.assert(
      fc.property(frontMatter, fc.constantFrom('', ' ', '\t', 3), fc.string(), (data, space, markdown) => {
        const text = pageOf(JSON.stringify(data, null, space), markdown);
        const form = toCanonicalForm(text);
        strictEqual(toCanonicalForm(form), form);
        deepStrictEqual(JSON.parse(jsonOf(form)), JSON.parse(JSON.stringify(data)));
        strictEqual(form.slice(form.length - markdown.length), markdown);
      }),
    );
  });

  it('is the same whatever the order of the keys was', () => {
    const members = Object.entries({ name: 'A', description: 'B', authors: [], trigger: {}, website: null });
    fc.assert(
      fc.property(fc.shuffledSubarray(members, { minLength: members.length }), (shuffled) => {
        const form = toCanonicalForm(pageOf(JSON.stringify(Object.fromEntries(shuffled))));
        strictEqual(form, toCanonicalForm(pageOf(JSON.stringify(Object.fromEntries(members)))));
      }),
    );
  });

  for (const { title, input, expected } of readCases('canonical-forms'))
    it(title, () =>
      deepStrictEqual(
        [toCanonicalForm(JSON.parse(input) as string)],
        expected.map((form) => JSON.parse(form)),
      ),
    );
});

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

  for (const { title, input, expected } of readCases('page-edits'))
    it(title, () => {
      const [file, values] = JSON.parse(input) as Parameters<typeof editPage>;
      deepStrictEqual(
        [editPage(file, values)],
        expected.map((edited) => JSON.parse(edited)),
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

  it('refuses a text that is no page file', () => {
    throws(() => editPage('# Homer\n', { nsfw: true }), /make its first line ---/);
    throws(() => editPage('---\n[]\n---\n', { nsfw: true }), /put the keys in \{ \}/);
  });
});

describe('the images in a page', () => {
  it('are those of Markdown and HTML, each once', () => {
    const text = `![a](https://e.org/1.png "A") [![b](<https://e.org/2.png>)](https://e.org)
      <img alt="c" src='https://e.org/3.png?a=1&amp;b=2'><IMG SRC=https://e.org/4.png> ![d](https://e.org/1.png)
      ![e](http://e.org/5.png) ![f](data:image/png;base64,AAAA) [g](https://e.org/6.png) ![h](/7.png)`;
    deepStrictEqual(findImages(text), [
      'https://e.org/1.png',
      'https://e.org/2.png',
      'https://e.org/3.png?a=1&b=2',
      'https://e.org/4.png',
    ]);
  });

  it('are a hundred at most, and found before a test is given up in any text', () => {
    const many = Array.from({ length: 500 }, (_, i) => `![](https://e.org/${i})`).join('');
    strictEqual(findImages(many).length, 100);
    for (const text of [...Object.values(hostilePages), '!['.repeat(10_000), '<img '.repeat(4_000)])
      findImages(text);
  });
});
