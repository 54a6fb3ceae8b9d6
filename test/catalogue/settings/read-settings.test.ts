import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import {
  createDiskReader,
  readSettings,
  type SettingsReading,
  toSettings,
} from '../../../src/catalogue/settings/settings.ts';
import { sampleImage } from '../../support/sample-images.ts';
import { writeFiles } from '../../support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function read(
  text: string | Buffer | object,
  more: Record<string, string | Buffer> = {},
): Promise<SettingsReading> {
  const root = tempFolder();
  const isText = typeof text === 'string' || Buffer.isBuffer(text);
  writeFiles(root, { 'botshelf.json': isText ? text : JSON.stringify(text, null, 2), ...more });
  return await readSettings(createDiskReader(root));
}

/** The faults as `line:column rule message`. */
async function faults(...args: Parameters<typeof read>): Promise<string[]> {
  return (await read(...args)).faults.map(
    ({ line, column, rule, message }) => `${line}:${column} ${rule} ${message}`,
  );
}

describe('the settings of a catalogue', () => {
  it('are the defaults without a file, and with an empty one', async () => {
    const { settings, faults } = await readSettings(createDiskReader(tempFolder()));
    deepStrictEqual([settings, faults], [toSettings(), []]);
    deepStrictEqual((await read({})).settings, toSettings());
  });

  it('are what the file says', async () => {
    const file = {
      name: 'Robotek',
      tagline: 'Bots für alle',
      notice: 'We move on Sunday.',
      contact: 'help@example.org',
      links: { terms: 'https://example.org/terms', report: 'mailto:abuse@example.org' },
      accent: { light: '#0b5d3b', dark: '#8be0b4' },
      language: 'de',
    };
    const { settings, faults } = await read(file);
    deepStrictEqual(faults, []);
    deepStrictEqual(settings, toSettings(file));
  });

  it('have no maintainers, and every proposal is reviewed, unless the file says otherwise', async () => {
    const policies = {
      newBots: 'review',
      authors: 'review',
      others: 'review',
      minAccountAgeDays: 0,
      reasons: null,
    };
    const of = async (file: object): Promise<unknown> => {
      const { settings, faults } = await read(file);
      deepStrictEqual(faults, []);
      return [settings?.maintainers, settings?.proposals];
    };
    deepStrictEqual(await of({}), [[], policies]);
    deepStrictEqual(await of({ maintainers: [], proposals: {} }), [[], policies]);
    const proposals = {
      authors: 'publish',
      others: 'off',
      minAccountAgeDays: 30,
      reasons: ['It is offline.'],
    };
    deepStrictEqual(await of({ maintainers: ['7', '007'], proposals }), [
      ['7', '007'],
      { ...policies, ...proposals },
    ]);
  });

  const cases: readonly (readonly [string, string | object | Buffer, ...RegExp[]])[] = [
    ['not JSON', '{\n  "name": "A",\n}', /^3:1 json a key is expected here/],
    ['no object', '[]', /^1:1 object the file is not an object: put the keys in \{ \}$/],
    ['a key twice', '{\n"name": "A",\n"name": "B"}', /^3:1 duplicate-key the key "name" is here twice/],
    ['no UTF-8', Buffer.from([0x7b, 0xff]), /^1:1 utf-8 this is not UTF-8/],
    ['a long file', ' '.repeat(65 * 1024), /^1:1 file-size the file has more than 65536 bytes/],
    [
      'an unknown key',
      '{\n  "tagine": "x"\n}',
      /^2:3 additionalProperties tagine: "tagine" is not a key: write "tagline"$/,
    ],
    [
      'a far key',
      { zebra: 1 },
      /^2:3 additionalProperties zebra: "zebra" is not a key here: remove it; the keys are name, /,
    ],
    [
      'a key of a key',
      { links: { term: 'https://a.example/' } },
      /^3:5 additionalProperties links\.term: .+ write "terms"$/,
    ],
    ['no text', { name: 7 }, /^2:11 type name: this is the number 7: write a text in quotes$/],
    ['an empty name', { name: '' }, /^2:11 minLength name: the text is empty: write 1 to 40 characters$/],
    [
      'a long name',
      { name: 'x'.repeat(41) },
      /^2:11 maxLength name: the text has 41 characters: shorten it to at most 40$/,
    ],
    ['two lines', { notice: 'a\nb' }, /^2:13 pattern notice: .+: write one line/],
    [
      'a script as a link',
      { links: { terms: 'javascript:alert(1)' } },
      /^3:14 pattern links\.terms: .+ https:\/\//,
    ],
    [
      'no colour',
      { accent: { light: 'red' } },
      /^3:14 pattern accent\.light: "red" is not allowed: write # and six/,
    ],
    [
      'a pale colour',
      { accent: { light: '#ffd700', dark: '#333333' } },
      /^3:14 accent accent\.light: #ffd700 has a contrast of 1\.\d\d to 1 with the background #\w{6}, and text needs 4\.5: choose a darker one$/,
      /^4:13 accent accent\.dark: #333333 has a contrast of 1\.\d\d to 1 .+: choose a lighter one$/,
    ],
    [
      'a language of no interface',
      { language: 'eo' },
      /^2:15 language language: the interface is not translated into eo: choose one of ar, de, en/,
    ],
    [
      'a language in wrong case',
      { language: 'DE' },
      /^2:15 pattern language: "DE" is not allowed: use a language tag/,
    ],
    [
      'an SVG',
      { logo: 'logo.svg' },
      /^2:11 pattern logo: "logo\.svg" is not allowed: write the path of a \.png/,
    ],
    [
      'a maintainer without quotes, and one who is there twice',
      { maintainers: [7, '8', '8'] },
      /^3:5 type maintainers\[0\]: this is the number 7: write a text in quotes$/,
      /^5:5 uniqueItems maintainers\[2\]: /,
    ],
    [
      'a name as maintainer',
      { maintainers: ['ada'] },
      /^3:5 pattern maintainers\[0\]: "ada" is not allowed: write 1 to 20 digits/,
    ],
    [
      'too many maintainers',
      { maintainers: Array.from({ length: 101 }, (_, i) => String(i)) },
      /^2:18 maxItems maintainers: .*100/,
    ],
    [
      'policies that do not exist, such as new bots without a review',
      { proposals: { newBots: 'publish', authors: true, others: 'publish', new: 'off' } },
      /^6:5 additionalProperties proposals\.new: /,
      /^3:16 enum proposals\.newBots: "publish" is not an allowed value: choose review or off$/,
      /^4:16 enum proposals\.authors: .+: choose review, publish or off$/,
      /^5:15 enum proposals\.others: "publish" is not an allowed value: choose review or off$/,
    ],
    [
      'an age that is no number of days',
      { proposals: { minAccountAgeDays: 3651 } },
      /^3:26 maximum proposals\.minAccountAgeDays: /,
    ],
    ['no reason to decline', { proposals: { reasons: [] } }, /^3:16 minItems proposals\.reasons: /],
    [
      'reasons that are long, of two lines, or blank',
      { proposals: { reasons: ['x'.repeat(81), 'a\nb', ' '] } },
      /^4:7 maxLength proposals\.reasons\[0\]: .+ at most 80$/,
      /^5:7 pattern proposals\.reasons\[1\]: /,
      /^6:7 pattern proposals\.reasons\[2\]: /,
    ],
    ['a path out of the repository', { logo: '../logo.png' }, /^2:11 pattern logo: /],
    ['a logo that is missing', { logo: 'logo.png' }, /^2:11 logo logo: there is no file logo\.png/],
  ];
  for (const [name, text, ...expected] of cases) {
    it(`have a fault with its place for ${name}`, async () => {
      const found = await faults(text);
      strictEqual(found.length, expected.length, found.join('\n'));
      for (const [i, pattern] of expected.entries()) match(found[i] ?? '', pattern);
    });
  }

  it('have a logo that is a picture of its kind, and refuse any other file', async () => {
    const png = await sampleImage();
    const { settings, faults: none } = await read({ logo: 'images/logo.png' }, { 'images/logo.png': png });
    deepStrictEqual([none, settings?.logo?.type, settings?.logo?.body], [[], 'image/png', png]);
    const of = async (body: string | Buffer): Promise<string> =>
      (await faults({ logo: 'logo.png' }, { 'logo.png': body }))[0] ?? '';
    match(
      await of('<svg onload="alert(1)"/>'),
      /^2:11 logo logo: this is not a picture that can be used: save it as/,
    );
    match(await of(png.subarray(0, png.length - 20)), /^2:11 logo logo: the picture is cut off/);
    match(
      await of(Buffer.concat([png, Buffer.alloc(200_000)])),
      /^2:11 logo logo: the picture has more than 131072 bytes/,
    );
  });

  it('follow no link to a logo', async () => {
    const [root, outside] = [tempFolder(), tempFolder()];
    writeFiles(outside, { 'logo.png': await sampleImage() });
    mkdirSync(join(root, 'a'));
    symlinkSync(join(outside, 'logo.png'), join(root, 'a/logo.png'));
    symlinkSync(outside, join(root, 'b'));
    for (const [path, message] of [
      ['a/logo.png', /^logo: a\/logo\.png: this is a symbolic link: put the file itself here$/],
      ['b/logo.png', /^logo: b\/logo\.png: a folder above it is a symbolic link: put the file itself here$/],
    ] as const) {
      writeFiles(root, { 'botshelf.json': JSON.stringify({ logo: path }) });
      match((await readSettings(createDiskReader(root))).faults[0]?.message ?? '', message);
    }
  });
});
