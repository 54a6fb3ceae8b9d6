import { hash } from 'node:crypto';
import { toCanonicalLocale, type Locale } from '../../bot/locale.ts';
import { parseBotId } from '../../bot/id.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import type { BotRecord } from '../../bot/schema-types.ts';
import { type BotIndex, type IndexedBot, parseRecord } from '../../catalogue/store/bot-index.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import { type PageData, parsePage } from '../../catalogue/page/page.ts';
import { type CatalogueSettings, chooseNewPageLanguage } from '../../catalogue/settings/settings.ts';
import { ProblemError } from '../../http/problem.ts';
import { findLanguages } from '../language/locales.ts';
import type { MessageKey } from '../language/message-file.ts';
import type { Messages } from '../language/messages.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { editPath, translatePath } from '../page/addresses.ts';
import type { Viewer } from '../page/layout.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import {
  type FieldGroups,
  type FieldTexts,
  findPlace,
  formatValue,
  languageFields,
  mainFields,
  placeFields,
  translationFields,
} from './fields.ts';
import type { FieldFaults } from './form-file.ts';

/** A form that makes a file of the catalogue. */
export interface Form {
  readonly kind: 'add' | 'edit' | 'translate';
  /** The path that it is sent to. */
  readonly action: string;
  readonly groups: FieldGroups;
  /** What the front matter of the file has to be. */
  readonly schema: 'main-page' | 'translation' | 'collection' | 'profile';
  /** What the page is called and what it says first, with the name of what is changed. */
  readonly title: MessageKey;
  readonly introduction: MessageKey;
  readonly name: string;
  /** The bot as it is listed; undefined for a new one, and for what is not a bot. */
  readonly listed: BotRecord | undefined;
  /** The accounts whose own it is, which decide what is done with a proposal; null for a new bot. */
  readonly owners: readonly string[] | null;
  /** The texts that it is filled in with at first. */
  readonly texts: FieldTexts;
  /** The languages that a new page may be in; none where the form does not ask for it. */
  readonly languages: readonly Locale[];
  /** The text of the file that it changes; of a new one what is there without the fields. */
  readonly source: string;
  /** The digest of the file that it changes; empty for a new one. */
  readonly base: string;
  /** Returns the path of the file in a language; undefined where a field of it is wrong. */
  readonly toPath: (locale: Locale, texts: FieldTexts) => string | undefined;
  /** Finds what is wrong with a file beside what its front matter has. */
  readonly findFaults: (locale: Locale | undefined, texts: FieldTexts) => FieldFaults;
}

/** Whether a form makes a page of a bot. */
export function isBotForm({ schema }: Pick<Form, 'schema'>): boolean {
  return schema === 'main-page' || schema === 'translation';
}

/** Returns the form for a new bot, which is listed from now on. */
export function createBotForm(
  bots: Pick<BotIndex, 'get'>,
  viewer: Viewer | null,
  { languages, proposed }: OfferedLanguages,
): Form {
  return {
    kind: 'add',
    action: '/add',
    groups: [...placeFields, ...mainFields],
    schema: 'main-page',
    title: 'layout.add',
    introduction: 'add.introduction',
    name: '',
    listed: undefined,
    owners: null,
    source: `---\n{"created": ${Date.now()}}\n---\n`,
    base: '',
    texts: { locale: proposed, ...(viewer && { authors: viewer.id }) },
    languages,
    toPath: (locale, texts) => {
      const id = parseBotId(texts.id?.trim() ?? '');
      return id && pathOf(id, locale);
    },
    findFaults(_locale, texts) {
      const id = parseBotId(texts.id?.trim() ?? '');
      if (id === undefined) return { id: { key: 'fault.id' } };
      const listed = bots.get(id);
      if (listed === undefined) return {};
      const values = { bot: withoutBidiControls(listed.facts.name) };
      return { id: { key: 'fault.listed', values, path: `/bots/${id}` } };
    },
  };
}

/**
 * Returns the form that edits a bot's page in a language; null for its main page.
 * @throws {ProblemError} not-found
 */
export function createEditForm(bot: IndexedBot, language: string | null, read: SiteParts['readFile']): Form {
  const { locale, isMain, source, texts } = readFile(bot, language, read);
  return {
    kind: 'edit',
    action: editPath(bot.id, isMain ? undefined : locale),
    groups: isMain ? mainFields : translationFields,
    schema: isMain ? 'main-page' : 'translation',
    title: 'edit.title',
    introduction: 'edit.introduction',
    ...describeListed(bot),
    texts: { ...texts, locale },
    languages: [],
    source,
    base: hash('sha1', source, 'base64url'),
    toPath: () => pathOf(bot.id, locale),
    findFaults: () => ({}),
  };
}

function describeListed(bot: IndexedBot): Pick<Form, 'listed' | 'owners' | 'name'> {
  const listed = parseRecord(bot);
  return { listed, owners: bot.facts.authors, name: listed.contents[findDefaultLocale(listed)]?.name ?? '' };
}

/**
 * Returns the form that adds a language to a bot, with the texts of a page to start from.
 * @param from the language of that page; null for the main page
 * @throws {ProblemError} not-found
 */
export function createTranslationForm(
  bot: IndexedBot,
  from: string | null,
  read: SiteParts['readFile'],
  { languages, proposed }: OfferedLanguages,
): Form {
  const { locale, isMain, texts } = readFile(bot, from, read);
  const { name = '', description = '', page = '' } = texts;
  return {
    kind: 'translate',
    action: translatePath(bot.id, isMain ? undefined : locale),
    groups: [...languageFields, ...translationFields],
    schema: 'translation',
    title: 'translate.title',
    introduction: 'translate.introduction',
    ...describeListed(bot),
    source: '---\n{}\n---\n',
    base: '',
    texts: { name, description, page, locale: proposed },
    languages,
    toPath: (language) => pathOf(bot.id, language),
    findFaults: (language, { description: translated = '' }) => ({
      ...(language && bot.facts.locales.includes(language) && { locale: { key: 'fault.hasLanguage' } }),
      ...(translated.trim() !== '' &&
        translated.trim() === texts.description && { description: { key: 'fault.untranslated' } }),
    }),
  };
}

function readFile(
  { id, files }: IndexedBot,
  language: string | null,
  read: SiteParts['readFile'],
): Pick<Form, 'source' | 'texts'> & { readonly locale: Locale; readonly isMain: boolean } {
  const wanted = language === null ? undefined : toCanonicalLocale(language);
  const indexed = files.find(({ locale, main }) => (language === null ? main : locale === wanted));
  if (indexed === undefined)
    throw new ProblemError('not-found', `this bot has no page in ${JSON.stringify(language?.slice(0, 60))}`);
  const { locale, main: isMain } = indexed;
  const source = read(pathOf(id, locale)) ?? '';
  const texts = readFieldTexts(source, isMain ? mainFields : translationFields);
  if (texts !== undefined) return { locale, isMain, source, texts };
  throw new ProblemError('not-found', 'the file of this bot cannot be read: edit it in the repository');
}

/** Returns the texts of the fields in a page file; undefined where it cannot be parsed. */
export function readFieldTexts(text: string, groups: FieldGroups): FieldTexts | undefined {
  const { page } = parsePage('', Buffer.from(text));
  if (page === undefined) return undefined;
  const texts = groups.flat().map((field) => {
    const place = findPlace(field);
    const value = place.reduce<unknown>((inner, key) => (inner as PageData | undefined)?.[key], page.data);
    return [field.name, place.length === 0 ? page.page : formatValue(value)] as const;
  });
  return Object.fromEntries(texts.filter(([, value]) => value !== undefined));
}

/** The languages that a form offers for a new page. */
export interface OfferedLanguages {
  /** Those of the reader first, the others by name. */
  readonly languages: readonly Locale[];
  /** The one that is chosen at first; empty where the reader has none of them. */
  readonly proposed: Locale | '';
}

/**
 * Returns the languages that a new page may be in.
 * @param wanted the language ranges that the reader prefers, best first
 * @param existing the languages that the bot has; none for a new bot
 */
export function offerLanguages(
  settings: Pick<CatalogueSettings, 'language' | 'languages'>,
  { locale, languageName }: Pick<Messages, 'locale' | 'languageName'>,
  wanted: readonly string[],
  existing: readonly Locale[],
): OfferedLanguages {
  const free = (settings.languages ?? commonLanguages).filter((language) => !existing.includes(language));
  const others = wanted.filter((range) => findLanguages([range], existing).length === 0);
  const own = findLanguages(others, free);
  const proposed = own[0] ?? (existing.length === 0 ? chooseNewPageLanguage(settings) : '');
  const { compare } = new Intl.Collator(locale);
  const byName = free.toSorted((a, b) => compare(languageName(a), languageName(b)));
  const first = proposed === '' ? [] : [proposed];
  return { languages: [...new Set([...first, ...own, ...byName])], proposed };
}

/** The languages that the form offers where the settings name none. A file can have any other. */
const commonLanguages = (
  'af am ar az be bg bn bs ca cs cy da de el en en-GB eo es es-419 et eu fa fi fil fr ga gl gu he hi hr hu hy id is ' +
  'it ja ka kk km kn ko lo lt lv mk ml mn mr ms my nb ne nl nn pa pl pt-BR pt-PT ro ru si sk sl sq sr sv sw ta te th ' +
  'tr uk ur uz vi zh-CN zh-TW'
).split(' ') as Locale[];
