import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { MainPage, Translation } from '../../schemas/types.ts';
import { readCommandConfig } from '../app/config.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { type Locale, parseLocale } from '../bot/locale.ts';
import { botsFolder, pathOf, type PagePlace, listPages } from '../catalogue/page/layout.ts';
import { readPageFile, createDiskReader } from '../catalogue/page/page-file.ts';
import { checkFiles, noLimits, placeholders } from '../catalogue/page/rules.ts';
import { readSettings, chooseNewPageLanguage, toSettings } from '../catalogue/settings/settings.ts';
import { UserError } from '../lib/errors.ts';

/** Creates the file of a new bot, or of another language of a bot, and prints its path. @throws {UserError} */
export async function createPage(
  idText: string,
  { locale: tag, author: account }: { readonly locale?: string; readonly author?: string },
): Promise<void> {
  const { catalogue: root } = readCommandConfig();
  const id = parseIdArgument(idText, 'a bot id');
  const author = account === undefined ? undefined : parseIdArgument(account, 'an account id');
  const locale = tag === undefined ? await readDefaultLocale(root) : parseLocaleArgument(tag);
  if (!existsSync(`${root}/.`))
    throw new UserError(`${root} is not a folder: set BOTSHELF_CATALOGUE to the folder that holds bots/`);
  // There may be no catalogue yet.
  const places = existsSync(join(root, botsFolder)) ? listPages(root, id) : [];
  const existing = places.find((place) => tag === undefined || place.locale === locale);
  if (existing) {
    const path = pathOf(id, existing.locale);
    throw new UserError(`${path} exists already: edit it, or choose another language with --locale`);
  }
  const text =
    places.length === 0 ? createMainPage(Date.now(), author) : createTranslation(readMainPage(root, places));
  const path = join(root, pathOf(id, locale));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { flag: 'wx' });
  process.stdout.write(`${relative(process.cwd(), path)}\n`);
}

/** @param what the expected kind of id, for the message */
function parseIdArgument(text: string, what: string): BotId {
  const id = parseBotId(text);
  if (id !== undefined) return id;
  throw new UserError(
    `${JSON.stringify(text)} is not ${what}: pass 1 to 20 digits, such as 190519304972663312`,
  );
}

/** Returns the language that the settings of the catalogue propose; the default settings if they are faulty. */
async function readDefaultLocale(root: string): Promise<Locale> {
  const { settings = toSettings() } = await readSettings(createDiskReader(root));
  return chooseNewPageLanguage(settings);
}

function parseLocaleArgument(tag: string): Locale {
  const locale = parseLocale(tag);
  if (typeof locale === 'string') return locale;
  throw new UserError(`${JSON.stringify(tag)} ${locale.reason}: pass --locale ${locale.instead}`);
}

/** Returns the name and description that a translation begins with. @throws {UserError} when no main page is valid */
function readMainPage(root: string, places: readonly PagePlace[]): Translation {
  const files = places.flatMap((place) => readPageFile(root, place) ?? []);
  const { mainPages, good } = checkFiles(files, noLimits);
  const main = good.find((file) => mainPages.some((one) => one === file));
  if (main !== undefined) return main.page.data as unknown as Translation;
  const paths = places.map(({ id, locale }) => pathOf(id, locale)).join(' ');
  throw new UserError(`the bot has no valid main page: fix it first, see botshelf check ${paths}`);
}

/**
 * Returns the text of a new main page. It is valid by the schema; placeholders mark the values that the author must
 * replace.
 * @param author the account of the author
 */
function createMainPage(now: number, author: string = placeholders.author): string {
  const data: MainPage = {
    name: placeholders.name,
    description: placeholders.description,
    authors: [author],
    category: 'other',
    codehost: { owner: null, repo: null },
    created: now,
    images: { avatar: null, cover: null, preview: [] },
    invite: placeholders.invite,
    nsfw: false,
    support: null,
    trigger: { prefix: [], customisable: false, mentionable: false },
    website: null,
  };
  return formatPage(data, `# ${data.name}\n\n${placeholders.page}\n`);
}

/** Returns the text of a new translation, with the main page's name. */
function createTranslation({ name }: Translation): string {
  const data: Translation = { name, description: placeholders.translatedDescription };
  return formatPage(data, `# ${name}\n\n${placeholders.translatedPage}\n`);
}

function formatPage(data: MainPage | Translation, page: string): string {
  return `---\n${JSON.stringify(data, null, 2)}\n---\n\n${page}`;
}
