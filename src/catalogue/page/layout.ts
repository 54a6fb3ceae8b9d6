import { hash } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { type Locale, parseLocale } from '../../bot/locale.ts';
import { codeOf } from '../../lib/errors.ts';
import { createFileFault, type Fault } from './fault.ts';

/** The folder of the catalogue that holds the bots. */
export const botsFolder = 'bots';

/** An empty file that keeps `bots/` in Git while there are no bots. In any other folder it is a stray file. */
export const gitkeep = '.gitkeep';

/** The part of a commands file's name that stands in place of the language. */
export const commandsPart = 'commands';

/** The place of a file in the catalogue: the bot, and the language of the page or `commands`. */
export interface FilePlace {
  readonly id: BotId;
  readonly locale: Locale | typeof commandsPart;
}

/** The place of a page in the catalogue: the bot and the language. */
export interface PagePlace extends FilePlace {
  readonly locale: Locale;
}

export function isPage<T extends Pick<FilePlace, 'locale'>>(file: T): file is T & Pick<PagePlace, 'locale'> {
  return file.locale !== commandsPart;
}

/**
 * Returns the folder of a bot's files: `312` for 190519304972663312. The last digits spread bots evenly; the first are
 * nearly equal in all snowflakes.
 */
export function folderOf(id: BotId): string {
  return id.slice(-3).padStart(3, '0');
}

/** Returns the path of a bot's page or commands, relative to the catalogue's folder. */
export function pathOf(id: BotId, locale: FilePlace['locale']): string {
  return `${botsFolder}/${folderOf(id)}/${formatFileName({ id, locale })}`;
}

/** Returns the name of a bot's file in its folder. */
export function formatFileName({ id, locale }: FilePlace): string {
  return `${id}.${locale}.${locale === commandsPart ? 'json' : 'md'}`;
}

/** Whether `name` can be a folder of `bots/`: exactly three digits. */
export function isFolderName(name: string): boolean {
  return /^[0-9]{3}$/.test(name);
}

export const strayMessage = `this is not the page of a bot: name it ${botsFolder}/<last three digits>/<id>.<locale>.md, or remove it`;

/** Returns the place of the file `name` in `bots/<folder>/`, or the fault of its path. */
export function parsePlace(folder: string, name: string): FilePlace | Pick<Fault, 'rule' | 'message'> {
  const [, digits = '', tag] =
    /^([0-9]{1,20})\.(?:([A-Za-z0-9-]{1,35})\.md|commands\.json)$/.exec(name) ?? [];
  const id = parseBotId(digits);
  if (id === undefined) return { rule: 'stray-file', message: strayMessage };
  const locale = tag === undefined ? commandsPart : parseLocale(tag);
  if (typeof locale === 'object') {
    const { reason, canonical, instead } = locale;
    const fix = canonical === undefined ? `use ${instead}` : `rename the file to ${pathOf(id, canonical)}`;
    return { rule: 'wrong-locale', message: `"${tag}" ${reason}: ${fix}` };
  }
  if (folder !== folderOf(id)) {
    const message = `this folder is not the bot's: move the file to ${pathOf(id, locale)}`;
    return { rule: 'wrong-folder', message };
  }
  return { id, locale };
}

/**
 * Returns the place of the page at a path; undefined for any other file.
 * @param prefix the catalogue's folder ending in `/`, if the path is relative to the top of the repository
 */
export function parsePagePath(path: string, prefix = ''): PagePlace | undefined {
  const place = parseFilePath(path, prefix);
  return place && isPage(place) ? place : undefined;
}

/** Like parsePagePath, for any file of a bot. */
export function parseFilePath(path: string, prefix = ''): FilePlace | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const [top, folder, name, ...rest] = path.slice(prefix.length).split('/');
  if (top !== botsFolder || folder === undefined || name === undefined || rest.length > 0) return undefined;
  const place = parsePlace(folder, name);
  return 'id' in place ? place : undefined;
}

/** The part of a file's stat that changes with its content. */
export type FileStat = Readonly<Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino'>>;

/** Returns the names of all entries of `bots/`, sorted. @throws when `bots/` cannot be read */
export function listTop(root: string): string[] {
  return listTopEntries(root)
    .map(({ name }) => name)
    .toSorted();
}

/**
 * Returns all entries of a folder, unsorted and with their types: a stat per name would delay requests.
 * @param top `bots`, or a folder next to it
 * @throws when the folder cannot be read
 */
export function listTopEntries(root: string, top = botsFolder): Dirent[] {
  if (isLink(root, top)) throw new Error(`${top} is a symbolic link: make it a folder`);
  return readdirSync(join(root, top), { withFileTypes: true }).filter(
    ({ name }) => name !== gitkeep || !isEmptyFile(join(root, top, gitkeep)),
  );
}

/**
 * Returns the stat of every entry of `bots/<folder>/` by name, sorted; empty if the folder does not exist.
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

/** Returns the names of all entries of `bots/<folder>/`, sorted; empty if it does not exist or is a link. @throws as listFolder */
export function listNames(root: string, folder: string): string[] {
  const path = join(root, botsFolder, folder);
  try {
    if (!isLink(root) && lstatSync(path).isDirectory()) return readdirSync(path).toSorted();
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
  // Throws if `bots/` itself is missing.
  listTop(root);
  return [];
}

/** Returns the places of a bot's pages. @throws as listFolder */
export function listPages(root: string, id: BotId): readonly PagePlace[] {
  const folder = folderOf(id);
  return (groupByBot(folder, listNames(root, folder)).bots.get(id) ?? []).filter(isPage);
}

/** Whether a path below `root` is a folder, without links in the path. Returns false on errors. */
export function isFolder(root: string, path: string): boolean {
  try {
    const parts = path.split('/');
    return parts.every((_, i) => lstatSync(join(root, ...parts.slice(0, i + 1))).isDirectory());
  } catch {
    return false;
  }
}

/** Groups a folder's names by bot. `misplaced` has the faults of those that the layout does not allow. */
export function groupByBot(
  folder: string,
  names: Iterable<string>,
): {
  readonly bots: ReadonlyMap<BotId, readonly FilePlace[]>;
  readonly misplaced: ReadonlyMap<string, Fault>;
} {
  const bots = new Map<BotId, FilePlace[]>();
  const misplaced = new Map<string, Fault>();
  for (const name of names) {
    const place = parsePlace(folder, name);
    if ('rule' in place) {
      const { rule, message } = place;
      misplaced.set(name, createFileFault(`${botsFolder}/${folder}/${name}`, rule, message));
      continue;
    }
    const places = bots.get(place.id);
    if (places) places.push(place);
    else bots.set(place.id, [place]);
  }
  return { bots, misplaced };
}

/** Returns the stat of a file; undefined if it does not exist. */
export function readStat(path: string): FileStat | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat && { size: stat.size, mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs, ino: stat.ino };
}

export function isSameFileStat(a: FileStat, b: FileStat): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino;
}

/** Returns a hash of the names and stats of a folder, in any order. */
export function computeFingerprint(stats: ReadonlyMap<string, FileStat>): string {
  const lines = [...stats].map(
    ([name, { size, mtimeMs, ctimeMs, ino }]) => `${name} ${size} ${mtimeMs} ${ctimeMs} ${ino}\n`,
  );
  return hash('sha1', lines.toSorted().join(''), 'base64url');
}

/** Whether a folder in `root` is a symbolic link, which may point anywhere. */
function isLink(root: string, top = botsFolder): boolean {
  return lstatSync(join(root, top), { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function isEmptyFile(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === 0;
}
