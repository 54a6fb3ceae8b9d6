import { hash } from 'node:crypto';
import { toCanonicalLocale, type Locale } from '../../bot/locale.ts';
import type { BotRecord } from '../../bot/schema-types.ts';
import { type BotIndex, type IndexedBot, parseRecord } from '../../catalogue/store/bot-index.ts';
import type { PagePlace } from '../../catalogue/page/layout.ts';
import { ProblemError } from '../../http/problem.ts';
import { editPath, translatePath } from '../page/edit-paths.ts';
import type { Viewer } from '../page/layout.tsx';
import type { FieldTexts, FormKind } from './add-fields.ts';
import type { OfferedLanguages } from './offered-languages.ts';
import {
  type EditedFile,
  editEntry,
  type FormEntry,
  chooseForm,
  createBotEntry,
  createTranslationEntry,
  readFieldTexts,
} from './form-entry.ts';

/** A form, and how the file is made from what it is filled in with. */
export interface Form {
  readonly kind: FormKind;
  /** The path that it is sent to, and the one that responds with the file. */
  readonly action: string;
  readonly download: string;
  /** The bot as it is listed; undefined for a new one. */
  readonly listed: BotRecord | undefined;
  /** The texts that it is filled in with at first. */
  readonly texts: FieldTexts;
  /** The languages that a new page may be in; none where the form does not ask for it. */
  readonly languages: readonly Locale[];
  /** The digest of the file that it is filled in with; empty for a new file. */
  readonly base: string;
  /** The text of the file before; null for a new one. */
  readonly before: string | null;
  readonly entryOf: (texts: FieldTexts) => FormEntry;
}

/** Returns the text of a page file as it is on disk; undefined where it cannot be read. */
export type PageReader = (place: PagePlace) => string | undefined;

/** Returns the form for a new bot. */
export function createBotForm(
  bots: BotIndex,
  viewer: Viewer | null,
  { languages, proposed }: OfferedLanguages,
): Form {
  return {
    kind: 'add',
    action: '/add',
    download: '/add/file',
    listed: undefined,
    base: '',
    texts: { locale: proposed, ...(viewer && { authors: viewer.id }) },
    languages,
    before: null,
    entryOf: (texts) => createBotEntry(texts, Date.now(), (id) => bots.get(id)?.facts.name),
  };
}

/**
 * Returns the form that edits a bot's page in a language; null for its main page.
 * @throws {ProblemError} not-found
 */
export function editForm(bot: IndexedBot, language: string | null, read: PageReader): Form {
  const { file, texts } = readFile(bot, language, read);
  const action = editPath(bot.id, file.isMain ? undefined : file.locale);
  return {
    kind: chooseForm(file),
    action,
    download: action.replace('/edit', '/edit/file'),
    listed: parseRecord(bot),
    base: hash('sha1', file.text, 'base64url'),
    texts: { ...texts, locale: file.locale },
    languages: [],
    before: file.text,
    entryOf: (changed) => editEntry(file, texts, changed),
  };
}

/**
 * Returns the form that adds a language to a bot, with the texts of a page to start from.
 * @param from the language of that page; null for the main page
 * @throws {ProblemError} not-found
 */
export function createTranslationForm(
  bot: IndexedBot,
  from: string | null,
  read: PageReader,
  { languages, proposed }: OfferedLanguages,
): Form {
  const { file, texts: source } = readFile(bot, from, read);
  const { name = '', description = '', page = '' } = source;
  const { locales } = bot.facts;
  const action = translatePath(bot.id, file.isMain ? undefined : file.locale);
  return {
    kind: 'translate',
    action,
    download: action.replace('/translate', '/translate/file'),
    listed: parseRecord(bot),
    base: '',
    texts: { name, description, page, locale: proposed },
    languages,
    before: null,
    entryOf: (texts) => createTranslationEntry(texts, { id: bot.id, locales, source }),
  };
}

function readFile(
  { id, files }: IndexedBot,
  language: string | null,
  read: PageReader,
): { readonly file: EditedFile; readonly texts: FieldTexts } {
  const wanted = language === null ? undefined : toCanonicalLocale(language);
  const indexed = files.find(({ locale, main }) => (language === null ? main : locale === wanted));
  if (indexed === undefined)
    throw new ProblemError('not-found', `this bot has no page in ${JSON.stringify(language?.slice(0, 60))}`);
  const { locale, main: isMain } = indexed;
  const text = read({ id, locale });
  const file = { id, locale, isMain, text: text ?? '' };
  const texts = readFieldTexts(file);
  if (texts !== undefined) return { file, texts };
  throw new ProblemError('not-found', 'the file of this bot cannot be read: edit it in the repository');
}
