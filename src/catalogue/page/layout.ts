import { type BotId, parseBotId } from '../../bot/id.ts';
import { type Locale, parseLocale } from '../../bot/locale.ts';

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

/** The reason why a path cannot be a file of a bot. */
export interface PlaceFault {
  readonly rule: 'stray-file' | 'wrong-folder' | 'wrong-locale';
  readonly message: string;
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
export function parsePlace(folder: string, name: string): FilePlace | PlaceFault {
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
