import type { Category } from '../../../schemas/types.ts';
import { english, type Locale } from '../../bot/locale.ts';
import { readSchema, type SchemaName } from '../../bot/schemas.ts';
import { formatPlace, maxFaults, validate } from '../../bot/validate.ts';
import { quoteValue } from '../../lib/text.ts';
import { type Fault, createFileFault } from './fault.ts';
import { isPage, type PagePlace, pathOf } from './layout.ts';
import type { PageFile } from './page-file.ts';
import type { Page } from './page.ts';

/** The values that the settings of a catalogue allow in its pages. */
export interface PageLimits {
  /** Null for any. */
  readonly categories: readonly Category[] | null;
  /** Null for any. */
  readonly languages: readonly Locale[] | null;
}

/** For callers that ignore the settings. */
export const noLimits: PageLimits = { categories: null, languages: null };

/** A page file that could be parsed. */
export interface ReadablePage extends PageFile {
  readonly page: Page;
}

export function isReadable<F extends PageFile>(file: F): file is F & ReadablePage {
  return file.page !== undefined;
}

/** Whether a page has a key that only main pages require. Any other key of main pages may be a mistake in a translation. */
export function isMainPage({ page }: Pick<ReadablePage, 'page'>): boolean {
  return Object.keys(page.data).some((key) => mainPageMarks.has(key));
}

/** The result of checking all files of a bot. */
interface CheckedFiles {
  /** The files that look like the main page; there must be exactly one. */
  readonly mainPages: readonly (PageFile & PagePlace)[];
  /** The files that can be served: without faults of their own, except for an unknown category. */
  readonly good: readonly ReadablePage[];
  readonly faults: readonly Fault[];
}

/**
 * Checks all files of a bot, alone and together. A bot's only file is its main page.
 * @param wasMain whether an unreadable file was the main page before
 */
export function checkFiles(
  files: readonly PageFile[],
  limits: PageLimits,
  wasMain: (file: PageFile) => boolean = () => false,
): CheckedFiles {
  const pages = files.filter(isPage);
  const single = pages.length === 1;
  const mainPages = pages.filter((file) => (isReadable(file) ? isMainPage(file) || single : wasMain(file)));
  const good: ReadablePage[] = [];
  const faults: Fault[] = [];
  for (const file of files) {
    const own =
      isReadable(file) && isPage(file)
        ? pageRules.flatMap((rule) => rule(file, mainPages.includes(file), limits))
        : file.faults;
    if (isReadable(file) && own.every(({ rule }) => rule === 'enum')) good.push(file);
    faults.push(...own);
  }
  if (mainPages.length > 1 || pages.every(isReadable)) faults.push(...findBotFaults(files, mainPages));
  return { mainPages, good, faults };
}

/** Returns the faults of a bot's files as a group. */
function findBotFaults(files: readonly PageFile[], mainPages: readonly PageFile[]): Fault[] {
  const first = files.find(isPage) ?? files[0];
  if (first === undefined || mainPages.length === 1) return [];
  if (!isPage(first)) {
    const message = `${first.id} has no page: add ${pathOf(first.id, english)}, or remove this file`;
    return [createFileFault(first.path, 'one-main-page', message)];
  }
  if (mainPages.length === 0) {
    const message = `${first.id} has no main page: one of its files needs authors, category, created and invite too`;
    return [createFileFault(first.path, 'one-main-page', message)];
  }
  const locales = mainPages.map(({ locale }) => locale);
  return mainPages.map(({ id, path, locale }) => {
    const others = locales.filter((other) => other !== locale).map((other) => pathOf(id, other));
    const message = `${others.join(' and ')} is a main page too: keep the shared keys in one file, name and description only in the others`;
    return createFileFault(path, 'one-main-page', message);
  });
}

const mainPageMarks = new Set(
  listRequiredKeys('main-page').filter((key) => !listRequiredKeys('translation').includes(key)),
);

function listRequiredKeys(schema: SchemaName): string[] {
  return readSchema(schema)['required'] as string[];
}

/** Each rule returns the faults of one page, as a main page or as a translation. */
const pageRules = [
  ensureLanguageAllowed,
  ensureKeysFit,
  ensurePageFits,
  ensureEditedNotBeforeCreated,
  ensureNoPlaceholders,
];

function ensureLanguageAllowed({ path, locale }: ReadablePage, _main: boolean, limits: PageLimits): Fault[] {
  const { languages } = limits;
  if (languages === null || languages.includes(locale as Locale)) return [];
  const message = `the pages of this catalogue are in ${languages.join(', ')}, not in ${locale}: translate it, or ask the maintainers to add ${locale} to "languages" in botshelf.json`;
  return [createFileFault(path, 'language', message)];
}

function ensureKeysFit({ page }: ReadablePage, main: boolean, { categories }: PageLimits): Fault[] {
  return validate(main ? 'main-page' : 'translation', page.data, categories).map(
    ({ place, keyword, atKey, message }) =>
      page.faultAt(place, keyword, `${formatPlace(place)}${message}`, atKey),
  );
}

function ensurePageFits({ path, page }: ReadablePage): Fault[] {
  return validate('page', page.page).map(({ keyword, message }) =>
    createFileFault(path, keyword, `the page below the front matter: ${message}`),
  );
}

function ensureEditedNotBeforeCreated({ page }: ReadablePage): Fault[] {
  const { created, edited } = page.data;
  if (typeof created !== 'number' || typeof edited !== 'number' || edited >= created) return [];
  const message = `edited is before created (${created}): use a later time, or leave it out`;
  return [page.faultAt(['edited'], 'edited', message)];
}

function ensureNoPlaceholders({ path, page }: ReadablePage): Fault[] {
  const faults = listValues(page.data)
    .filter(([, value]) => values.has(value))
    .slice(0, maxFaults)
    .map(([place, value]) => {
      const message = `${formatPlace(place)}${quoteValue(value)} is a placeholder: replace it with the bot's own`;
      return page.faultAt(place, 'placeholder', message);
    });
  const left = textsOfPages.find((placeholder) => page.page.includes(placeholder));
  if (left === undefined) return faults;
  const message = `the page below the front matter: ${quoteValue(left)} is a placeholder: replace it`;
  return [...faults, createFileFault(path, 'placeholder', message)];
}

/** Lists the values of the front matter and the entries of its lists, each with its path. */
function listValues(data: Page['data']): [place: (string | number)[], value: unknown][] {
  return Object.entries(data).flatMap(([key, value]): [(string | number)[], unknown][] =>
    Array.isArray(value) ? value.map((entry, i) => [[key, i], entry]) : [[[key], value]],
  );
}

/** The values of a new file that its author must replace. */
export const placeholders = {
  name: 'Your bot’s name',
  description: 'Replace this with one sentence that says what the bot does.',
  translatedDescription: 'Replace this with the description in this language.',
  author: '00000000000000000',
  invite: 'https://example.com/replace-with-the-invite',
  page: 'Replace this with the page of your bot, in markdown: what it does, how to use it.',
  translatedPage: 'Replace this with the page of your bot in this language.',
} as const;

/** Values of front matter, and texts of pages such as the heading, that are still placeholders. */
const values: ReadonlySet<unknown> = new Set(Object.values(placeholders));

const textsOfPages = [`# ${placeholders.name}`, placeholders.page, placeholders.translatedPage];
