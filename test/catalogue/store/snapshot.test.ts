import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import type { BotRecord } from '../../../schemas/types.ts';
import { noCachedImages } from '../../../src/bot/record.ts';
import { Catalogue, type CatalogueOptions } from '../../../src/catalogue/catalogue.ts';
import { computeFingerprint, listFolder } from '../../../src/catalogue/page/layout.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { type FolderState, unpackFolder } from '../../../src/catalogue/store/packed-folder.ts';
import { readSnapshot, writeSnapshot } from '../../../src/catalogue/store/snapshot.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { eventually } from '../../support/eventually.ts';
import { botId, commandsPath, mainPage, pagePath, translation } from '../../support/sample.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';

const { categories, languages } = toSettings();
const limits = { categories, languages };

describe('a snapshot', () => {
  let path: string;
  let bytes: Buffer;
  let folders: FolderState[];

  before(async () => {
    const root = tempFolder();
    const page = 'x'.repeat(19_000);
    const ids = [1, 2, 3, 4].flatMap((n) => [1, 2, 3].map((folder) => String(n * 1000 + folder)));
    const many = ids.map((id) => [pagePath(id), mainPage({}, page)]);
    writeFiles(root, {
      ...Object.fromEntries(many),
      [pagePath('7', 'fr')]: mainPage(),
      [pagePath('7')]: translation('a', 'b'),
      [commandsPath('7')]: '{"commands": [{"name": "é"}]}',
    });
    path = join(root, 'var', 'index.snapshot');
    const catalogue = new Catalogue({ root, log: silentLog, snapshot: path });
    await catalogue.load();
    folders = await saved(catalogue, path);
    await catalogue.close();
    bytes = readFileSync(path);
    strictEqual(folders.flatMap(({ bots }) => bots).length, 13);
  });

  it('returns what was written: bytes, facts, files and stats, and leaves no other file behind', async () => {
    deepStrictEqual(readdirSync(join(path, '..')), ['index.snapshot']);
    const copy = join(tempFolder(), 'a', 'b', 'index.snapshot');
    await writeSnapshot(copy, folders, limits);
    deepStrictEqual(await unpacked(copy), folders);
    for (const { folder, fingerprint, bots, stats } of folders) {
      match(fingerprint, /./);
      const files = bots.flatMap((bot) => bot.files);
      strictEqual([...stats.values()].filter((stat) => stat !== null).length, files.length, folder);
    }
    await writeSnapshot(copy, [], limits);
    deepStrictEqual(await readSnapshot(copy), { folders: [], limits });
  });

  const flipped = (offset: number, bit: number): Buffer => {
    const damaged = Buffer.from(bytes);
    damaged[offset] = (damaged[offset] ?? 0) ^ (1 << bit);
    return damaged;
  };
  const cutAt = (ends: readonly number[]): Buffer[] => ends.map((end) => bytes.subarray(0, end));

  it('is not used where it is missing, damaged or of other code', async () => {
    strictEqual(await readSnapshot(join(tempFolder(), 'nothing')), undefined);
    strictEqual(await readSnapshot(tempFolder()), undefined);
    const ends = blockEnds(bytes);
    strictEqual(ends.at(-1), bytes.length);
    const [headers, offset] = [ends.slice(0, -1), fc.nat(bytes.length - 1)];
    ok(headers.length > 2, 'there are several blocks');
    const ofOtherCode = Buffer.from(bytes);
    ofOtherCode.write('0000', bytes.indexOf('\n') - 4);
    const damages: Readonly<Record<string, readonly Buffer[]>> = {
      'is torn at the end of a block': cutAt(headers),
      'is torn anywhere': cutAt([0, 1, bytes.length - 1, ...fc.sample(offset, 15)]),
      'has a flipped bit': fc.sample(fc.tuple(offset, fc.nat(7)), 20).map(([at, bit]) => flipped(at, bit)),
      'has a flipped bit in a length or checksum': headers.flatMap((header) =>
        Array.from({ length: 32 }, (_, i) => flipped(header + (i >> 1), i % 2 === 0 ? 0 : 7)),
      ),
      'lost a part to zeros, as after a crash': ends
        .slice(1)
        .map((end) => Buffer.from(bytes).fill(0, Math.max(0, end - 4096), end)),
      'is of other code or schemas': [ofOtherCode],
      'has something behind its end': [Buffer.concat([bytes, bytes])],
    };
    for (const [damage, all] of Object.entries(damages))
      for (const [i, damaged] of all.entries())
        strictEqual(await reading(damaged), undefined, `it ${damage}, case ${i}`);
  });
});

/** Returns the folders in a snapshot of these bytes; undefined if it is refused. */
async function reading(bytes: Buffer): Promise<FolderState[] | undefined> {
  const copy = join(tempFolder(), 'copy');
  writeFileSync(copy, bytes);
  return await unpacked(copy);
}

async function unpacked(path: string): Promise<FolderState[] | undefined> {
  return (await readSnapshot(path))?.folders.map((packed) => {
    const { folder, fingerprint } = packed;
    return { folder, fingerprint, ...unpackFolder(packed) };
  });
}

/** Returns the ends of the first line and of each block in a snapshot. */
function blockEnds(bytes: Buffer): number[] {
  const ends = [bytes.indexOf('\n') + 1];
  for (let end = ends[0] ?? 0; end < bytes.length; ends.push(end))
    end += 16 + bytes.readUInt32LE(end) + bytes.readUInt32LE(end + 4) + bytes.readUInt32LE(end + 8);
  return ends;
}

/** Saves the index once every stat is reliable, so that no file was changed a moment ago. */
async function saved(catalogue: Catalogue, path: string): Promise<FolderState[]> {
  let folders: FolderState[] = [];
  await eventually(async () => {
    await catalogue.bots.saveSnapshot();
    folders = (await unpacked(path)) ?? [];
    return folders.every(({ fingerprint }) => fingerprint !== '');
  });
  return folders;
}

describe('a restart with a snapshot', () => {
  let root: string;
  let path: string;

  beforeEach(async () => {
    root = tempFolder();
    path = join(root, 'var', 'index.snapshot');
    writeFiles(
      root,
      Object.fromEntries(['7', '30', '200'].map((id) => [pagePath(id), mainPage({ name: 'Old' })])),
    );
    await started(async (catalogue) => await saved(catalogue, path));
  });

  /** Opens a catalogue, calls `look` as soon as everything was read, and returns its result. */
  async function started<T>(
    look: (catalogue: Catalogue) => T | Promise<T>,
    options: Partial<CatalogueOptions> = {},
  ): Promise<T> {
    const catalogue = new Catalogue({ root, log: silentLog, snapshot: path, ...options });
    await catalogue.load();
    try {
      return await look(catalogue);
    } finally {
      await catalogue.close();
    }
  }

  it('reads again only the files whose stats differ, in folders in which names or stats do', async () => {
    const bots = { [pagePath('7')]: mainPage({ name: 'New' }), [pagePath('30')]: mainPage({ name: 'New' }) };
    writeFiles(root, bots);
    const { size, mtimeMs, ctimeMs, ino } = statSync(join(root, pagePath('7')));
    const stats = new Map([['7.en.md', { size, mtimeMs, ctimeMs, ino }]]);
    const folders = (await unpacked(path)) ?? [];
    for (const pretended of [{ stats }, { fingerprint: computeFingerprint(listFolder(root, '007')) }]) {
      const all = folders.map((kept) => (kept.folder === '007' ? { ...kept, ...pretended } : kept));
      await writeSnapshot(path, all, limits);
      deepStrictEqual(await started(names), ['7 Old', '30 New', '200 Old']);
    }
  });

  it('serves what changed while the folders before it were being saved', async () => {
    await started(async (catalogue) => {
      await catalogue.bots.unpacked();
      const states = catalogue.bots.states();
      const first = states.next();
      writeFiles(root, { [pagePath('200')]: mainPage({ name: 'New' }), [pagePath('1200')]: mainPage() });
      await eventually(() => ok(names(catalogue).includes('200 New') && names(catalogue).length === 4));
      const rest = [...states];
      await writeSnapshot(path, [...(first.done ? [] : [first.value]), ...rest], limits);
    });
    deepStrictEqual(await started(names), ['7 Old', '30 Old', '200 New', '1200 Homer']);
  });

  it('finds files that came and went, and whole folders', async () => {
    rmSync(join(root, pagePath('30')));
    renameSync(join(root, 'bots/200'), join(root, 'elsewhere'));
    writeFiles(root, {
      [pagePath('8')]: mainPage({ name: 'New' }),
      [pagePath('7', 'fr')]: translation('a', 'b'),
    });
    deepStrictEqual(await started(names), ['7 Old', '8 New']);
    deepStrictEqual(await started((catalogue) => catalogue.store.bots.get(botId('7'))?.facts.locales), [
      'en',
      'fr',
    ]);
  });

  it('keeps the last valid version of a file that was broken before the start, and of one that was broken before the snapshot', async () => {
    writeFiles(root, { [pagePath('7')]: 'broken' });
    for (const _ of [1, 2]) {
      await started((catalogue) => {
        deepStrictEqual(names(catalogue), ['7 Old', '30 Old', '200 Old']);
        deepStrictEqual(
          catalogue.store.faults().map(({ path, rule }) => `${path} ${rule}`),
          [`${pagePath('7')} opener`],
        );
      });
    }
  });

  it('keeps the last valid version where the settings have changed, too, and reads every bot by them', async () => {
    writeFiles(root, {
      [pagePath('7')]: 'broken',
      'botshelf.json': JSON.stringify({ categories: { music: {} } }),
    });
    for (const _ of [1, 2])
      await started(async (catalogue) => {
        deepStrictEqual(names(catalogue), ['7 Old', '30 Old', '200 Old']);
        const categories = (): unknown[] => catalogue.store.bots.all().map(({ facts }) => facts.category);
        await eventually(() => deepStrictEqual(categories(), ['other', 'other', 'other']));
      });
  });

  it('has no copies of images where they are no longer kept', async () => {
    const avatarOf = (catalogue: Catalogue): string | null => {
      const record = catalogue.store.bots.get(botId('7'))?.record.toString() ?? '';
      return (JSON.parse(record) as BotRecord).cachedImages.avatar;
    };
    const cachedImages = (): typeof noCachedImages => ({ ...noCachedImages, avatar: '/appdata/0.webp' });
    await started(
      async (catalogue) => {
        catalogue.look([pagePath('7')]);
        await saved(catalogue, path);
      },
      { cachedImages },
    );
    strictEqual(await started(avatarOf, { cachedImages }), '/appdata/0.webp');
    strictEqual(await started(avatarOf), null);
  });

  it('reads everything with a wrong one, writes a good one, and goes without where it cannot be written', async () => {
    writeFileSync(path, 'botshelf snapshot 0\n');
    deepStrictEqual(await started(names), ['7 Old', '30 Old', '200 Old']);
    strictEqual((await unpacked(path))?.length, 3);
    rmSync(join(root, 'var'), { recursive: true });
    writeFileSync(join(root, 'var'), 'a file where the folder should be');
    deepStrictEqual(await started(names), ['7 Old', '30 Old', '200 Old']);
  });
});

/** Returns the ids and names of the bots that are served. */
function names(catalogue: Catalogue): string[] {
  return catalogue.store.bots.all().map(({ id, facts }) => `${id} ${facts.name}`);
}
