import { hash } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BotId } from '../../bot/id.ts';
import {
  botsFolder,
  folderOf,
  gitkeep,
  type PlaceFault,
  pathOf,
  type PagePlace,
  parsePlace,
} from '../page/layout.ts';
import { codeOf } from '../../lib/errors.ts';

/** What differs between two states of a file, without reading it. */
export interface FileStat {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

/** Returns the names in `bots/` in order, of folders of bots and of anything else. @throws when it cannot be read */
export function listTop(root: string): string[] {
  return listTopEntries(root)
    .map(({ name }) => name)
    .toSorted();
}

/**
 * Returns the same in any order, each with its type, as a call for each of a thousand names would delay requests.
 * @param top `bots`, or a folder beside it
 * @throws as listTop
 */
export function listTopEntries(root: string, top = botsFolder): Dirent[] {
  if (isLink(root, top)) throw new Error(`${top} is a symbolic link: make it a folder`);
  return readdirSync(join(root, top), { withFileTypes: true }).filter(
    ({ name }) => name !== gitkeep || !isEmptyFile(join(root, top, gitkeep)),
  );
}

/**
 * Returns the stats of everything in `bots/<folder>/` by name, in name order; none where the folder does not exist.
 * @throws when the folder, or `bots/` itself, cannot be read
 */
export function listFolder(root: string, folder: string): Map<string, FileStat> {
  const path = join(root, botsFolder, folder);
  const stats = new Map<string, FileStat>();
  for (const name of listNames(root, folder)) {
    const stat = readStat(`${path}/${name}`);
    if (stat) stats.set(name, stat);
  }
  return stats;
}

/**
 * Returns the names of everything in `bots/<folder>/` in order; none where it does not exist or is a link.
 * @throws as listFolder
 */
export function listNames(root: string, folder: string): string[] {
  const path = join(root, botsFolder, folder);
  try {
    if (!isLink(root) && lstatSync(path).isDirectory()) return readdirSync(path).toSorted();
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
  // Throws where `bots/` itself is gone.
  listTop(root);
  return [];
}

/** Returns the places of a bot's page files in its folder. @throws as listFolder */
export function listPages(root: string, id: BotId): readonly PagePlace[] {
  const folder = folderOf(id);
  return groupByBot(folder, listNames(root, folder)).bots.get(id) ?? [];
}

/** Whether a path below `root` leads to a folder, through no link. False if that cannot be seen. */
export function isFolder(root: string, path: string): boolean {
  try {
    const parts = path.split('/');
    return parts.every((_, i) => lstatSync(join(root, ...parts.slice(0, i + 1))).isDirectory());
  } catch {
    return false;
  }
}

/** Returns the stat of the file at a place; undefined where there is none. */
export function readPageStat(root: string, { id, locale }: PagePlace): FileStat | undefined {
  return readStat(join(root, pathOf(id, locale)));
}

export function isSameFileStat(a: FileStat, b: FileStat): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino;
}

/** Returns a hash of the names and stats of a whole folder, whatever their order. */
export function computeFingerprint(stats: ReadonlyMap<string, FileStat>): string {
  const lines = [...stats].map(
    ([name, { size, mtimeMs, ctimeMs, ino }]) => `${name} ${size} ${mtimeMs} ${ctimeMs} ${ino}\n`,
  );
  return hash('sha1', lines.toSorted().join(''), 'base64url');
}

/** Groups a folder's names by bot, and returns what has no place in the layout. */
export function groupByBot(
  folder: string,
  names: Iterable<string>,
): {
  readonly bots: ReadonlyMap<BotId, readonly PagePlace[]>;
  readonly misplaced: ReadonlyMap<string, PlaceFault>;
} {
  const bots = new Map<BotId, PagePlace[]>();
  const misplaced = new Map<string, PlaceFault>();
  for (const name of names) {
    const place = parsePlace(folder, name);
    if ('rule' in place) {
      misplaced.set(name, place);
      continue;
    }
    const places = bots.get(place.id);
    if (places) places.push(place);
    else bots.set(place.id, [place]);
  }
  return { bots, misplaced };
}

/** Whether a folder in `root` is a symbolic link, which may point anywhere. */
function isLink(root: string, top = botsFolder): boolean {
  return lstatSync(join(root, top), { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function isEmptyFile(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === 0;
}

/** Returns the stat of a file; undefined where there is none. */
export function readStat(path: string): FileStat | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat && { size: stat.size, mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs, ino: stat.ino };
}
