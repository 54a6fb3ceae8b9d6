import { deepStrictEqual, match } from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings, type SettingsReading, toSettings } from '../../../src/catalogue/settings/settings.ts';
import { createDiskReader } from '../../../src/catalogue/page/page-file.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { sampleImage } from '../../support/sample-images.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';

async function read(
  text: string | Buffer | object,
  more: Record<string, string | Buffer> = {},
): Promise<SettingsReading> {
  const root = tempFolder();
  const isText = typeof text === 'string' || Buffer.isBuffer(text);
  writeFiles(root, { 'botshelf.json': isText ? text : JSON.stringify(text, null, 2), ...more });
  return await readSettings(createDiskReader(root));
}

/** Returns the faults as `line:column rule message`. */
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

  for (const { title, input, expected } of readCases('review-settings'))
    it(title, async () => {
      const { settings, faults } = await read(JSON.parse(input) as object);
      const [reviewed] = expected.map((line) => JSON.parse(line) as unknown);
      deepStrictEqual([[settings?.maintainers, settings?.proposals], faults], [reviewed, []]);
    });

  for (const { title, input, expected } of readCases('settings'))
    it(`have a fault with its place for ${title}`, async () =>
      deepStrictEqual(await faults(JSON.parse(input) as object), expected));

  for (const [title, text, expected] of [
    ['no JSON', '{\n  "name": "A",\n}', /^3:1 json a key is expected here/],
    ['no object', '[]', /^1:1 object the file is not an object: put the keys in \{ \}$/],
    ['a key twice', '{\n"name": "A",\n"name": "B"}', /^3:1 duplicate-key the key "name" is here twice/],
    ['no UTF-8', Buffer.from([0x7b, 0xff]), /^1:1 utf-8 this is not UTF-8/],
    ['a long file', ' '.repeat(65 * 1024), /^1:1 file-size the file has more than 65536 bytes/],
  ] as const)
    it(`have one fault for ${title}`, async () => {
      const [fault = '', ...others] = await faults(text);
      match(fault, expected);
      deepStrictEqual(others, []);
    });

  it('have a logo that is a picture of its kind, and refuse any other file', async () => {
    const png = await sampleImage();
    const { settings, faults: none } = await read({ logo: 'images/logo.png' }, { 'images/logo.png': png });
    deepStrictEqual([none, settings?.logo?.type, settings?.logo?.body], [[], 'image/png', png]);
    const of = async (body: string | Buffer): Promise<string> =>
      (await faults({ logo: 'logo.png' }, { 'logo.png': body }))[0] ?? '';
    match(
      await of('<svg onload="alert(1)"/>'),
      /^2:11 logo logo: this is not an image that can be used: save it as/,
    );
    match(await of(png.subarray(0, png.length - 20)), /^2:11 logo logo: the image is cut off/);
    match(
      await of(Buffer.concat([png, Buffer.alloc(200_000)])),
      /^2:11 logo logo: the image has more than 131072 bytes/,
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
