import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { maxFileSize } from '../../../src/catalogue/page/page.ts';
import { mainPage, translation } from '../../support/sample.ts';
import { fault, good, homer, withFrontMatter } from '../../support/page-file.ts';

describe('a page file', () => {
  it('is its front matter and its markdown', () => {
    const { data, page } = good(translation('Homer', 'Doughnuts.', '# Homer\n\nThe page.\n'));
    deepStrictEqual(data, { name: 'Homer', description: 'Doughnuts.' });
    strictEqual(page, '# Homer\n\nThe page.');
  });

  it('may say that its front matter is JSON', () => {
    deepStrictEqual(good('---json\n{"name": "Homer"}\n---\n').data, { name: 'Homer' });
  });

  it('may have no markdown, and end without a line end', () => {
    strictEqual(good('---\n{}\n---').page, '');
    strictEqual(good('---\n{}\n---\n\n \n').page, '');
    strictEqual(good('---\r\n{}\r\n---\r').page, '');
  });

  it('keeps the indentation of its first line, and every --- below', () => {
    strictEqual(good(withFrontMatter('{}', '\n    code\n\n---\n\n---js\n')).page, '    code\n\n---\n\n---js');
  });

  it('reads the same with CRLF', () => {
    const text = mainPage();
    const { data, page } = good(text.replaceAll('\n', '\r\n'));
    deepStrictEqual(data, good(text).data);
    strictEqual(page, good(text).page);
  });

  it('keeps text of every script', () => {
    const { data, page } = good(translation('ホーマー 🍩', 'Ünïcödé', '\u{1F369}'));
    strictEqual(data['name'], 'ホーマー 🍩');
    strictEqual(page, '\u{1F369}');
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

    const cases: readonly (readonly [string, string | Buffer, RegExp])[] = [
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
      ['it begins with a byte order mark', `\uFEFF${homer}`, /^1:1 byte-order-mark .*without BOM$/],
      ['it holds a NUL, naming its place in characters', `${homer}\néé\0`, /^5:3 nul /],
      ['it is a NUL', '\0', /^1:1 nul /],
      ['it is UTF-16', Buffer.from(homer, 'utf16le'), /^1:2 nul .*UTF-8$/],
      ['it is empty', '', /^1:1 opener .*: make its first line ---$/],
    ];
    for (const [title, file, expected] of cases) it(`when ${title}`, () => match(fault(file), expected));
  });

  describe('tells bad JSON by its place and its fix', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['{"a": 1 "b": 2}', /^2:9 json a comma is missing: /],
      ['{"a" 1}', /^2:6 json a colon is missing: write "key": value$/],
      ['{"a": 1,}', /^2:9 json a key is expected here: .*no comma after the last one$/],
      ['{"a": [1,]}', /^2:10 json a value is missing here: /],
      ['{\n  "a": 1', /json a } is missing: close the object here$/],
      ['{"a": [1', /json a \] is missing: /],
      ['{"a": 1} {"b": 2}', /^2:10 json .*put every key inside \{ \}$/],
      ["{'a': 1}", /^2:2 json .*double quotes/],
      ['{a: 1}', /^2:2 json .*double quotes/],
      ['{"a": True}', /^2:7 json .*lower case$/],
      ['{"a": 007}', /^2:\d+ json /],
      ['{"a": "b}', /^2:7 json a text is not closed: /],
      ['{"a": "\\x"}', /^2:7 json JSON has no such escape: /],
      ['{"a": "\t"}', /^2:7 json this character is not allowed here: escape it/],
      ['{"a": 1} // why', /^2:10 json JSON has no comments: remove it$/],
      ['name: Homer', /^2:1 json /],
    ];
    for (const [json, expected] of cases)
      it(JSON.stringify(json), () => match(fault(withFrontMatter(json)), expected));
  });
});
