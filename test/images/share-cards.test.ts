import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { Decoder } from '../../src/images/decoder.ts';
import { type NamedShareCard, ShareCards, toShareCardVersion } from '../../src/images/share-cards.ts';
import { sampleImage } from '../support/sample-images.ts';
import { tempFolder } from '../support/temp-folder.ts';

const plain: NamedShareCard = {
  site: 'Botshelf',
  name: 'Homer',
  verified: false,
  facts: 'Fun · 156 servers',
  control: 'Does not ask for Administrator',
  stamp: ['Reviewed by Marge', '17 Nov 2026'],
  description: 'Answers questions about doughnuts.',
  isRightToLeft: false,
  accent: '#5a35a3',
  wall: '#fce0d2',
  tab: '#c86830',
  avatar: null,
};

describe('share cards', () => {
  let folder: string;
  let decoder: Decoder;
  let cards: ShareCards;

  before(() => {
    decoder = new Decoder();
  });

  beforeEach(() => {
    folder = join(tempFolder(), 'cards');
    cards = new ShareCards(folder, decoder, {
      read: async (name) => (name === '' ? undefined : await sampleImage({ width: 512, height: 300 })),
    });
  });

  after(async () => {
    await decoder.close();
  });

  /** Draws a card, and returns its pixels, three bytes each. */
  const draw = async (card: Partial<NamedShareCard>): Promise<Buffer> => {
    const { data, info } = await sharp(await cards.get({ ...plain, ...card }, 'visitor'))
      .raw()
      .toBuffer({ resolveWithObject: true });
    deepStrictEqual([info.format, info.width, info.height, info.channels], ['raw', 1200, 630, 3]);
    return data;
  };

  it('differ by each text, the colours, the direction and the avatar @long', async () => {
    const values: Partial<NamedShareCard> = {
      site: 'Robotek',
      name: 'Marge',
      facts: 'Fun',
      description: 'Answers.',
      control: 'Asks for full control',
      stamp: [],
      accent: '#17663a',
      wall: '#d5eedb',
      isRightToLeft: true,
      verified: true,
      avatar: `/appdata/${'0'.repeat(64)}.webp`,
    };
    const changes = [{}, ...Object.entries(values).map(([key, value]) => ({ [key]: value }))];
    const drawn = new Set<string>();
    for (const change of changes) drawn.add((await draw(change)).toString('base64'));
    strictEqual(drawn.size, changes.length);
    strictEqual(readdirSync(folder).length, changes.length);
  });

  it('show hostile texts as text, or nothing in their place @slow', async () => {
    const empty = await draw({ name: '' });
    for (const name of ['\u0000\u200F\u2066', ' ', '\u{F0000}', '\u0378'])
      ok((await draw({ name })).equals(empty), JSON.stringify(name));
    for (const name of [
      '<b>&amp;</span>',
      '"\'\u2028\uD800',
      'a'.repeat(32),
      'x\u0301'.repeat(100),
      '﷽'.repeat(32),
    ])
      ok(!(await draw({ name, description: name.repeat(6) })).equals(empty), JSON.stringify(name));
  });

  it('leave a text out where no font has one of its letters, in place of boxes @slow', async () => {
    // A letter of Nag Mundari, for which hardly any machine has a font.
    ok((await draw({ name: 'Homer \u{1E4D0}' })).equals(await draw({ name: '' })));
  });

  it('are drawn once, are read from the disk after that, and are drawn again where the disk has lost them @slow', async () => {
    const [first, second] = await Promise.all([cards.get(plain, 'visitor'), cards.get(plain, 'visitor')]);
    ok(first?.equals(second ?? Buffer.alloc(0)));
    const path = join(folder, `${toShareCardVersion(plain)}.png`);
    deepStrictEqual(readdirSync(folder), [`${toShareCardVersion(plain)}.png`]);
    writeFileSync(path, 'stored');
    strictEqual(String(await cards.get(plain, 'visitor')), 'stored');
  });

  it('are drawn again where a power loss has left them empty @slow', async () => {
    const drawn = await cards.get(plain, 'visitor');
    const path = join(folder, `${toShareCardVersion(plain)}.png`);
    truncateSync(path);
    ok(drawn.equals(await cards.get(plain, 'visitor')));
    ok(drawn.equals(readFileSync(path)));
  });

  it('are a thousand on the disk at most: the oldest go first @slow', async () => {
    mkdirSync(folder);
    for (let i = 0; i < 1000; i++) {
      const path = join(folder, `${i}.png`);
      writeFileSync(path, '');
      utimesSync(path, i + 1, i + 1);
    }
    await cards.get(plain, 'visitor');
    const names = readdirSync(folder);
    strictEqual(names.length, 1000);
    ok(!names.includes('0.png') && names.includes('1.png'));
  });

  it('are refused where too many others wait @long', async () => {
    const all = Array.from(
      { length: 40 },
      async (_, i) => await cards.get({ ...plain, name: `Bot ${i}` }, String(i)),
    );
    const results = await Promise.allSettled(all);
    const refused = results.filter(({ status }) => status === 'rejected');
    ok(refused.length > 10 && refused.length < 40, `${refused.length}`);
    await rejects(Promise.all(all), { code: 'queue-full' });
  });
});
