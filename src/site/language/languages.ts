import { readdirSync, readFileSync } from 'node:fs';
import type { Context } from 'koa';
import type { Category } from '../../../schemas/types.ts';
import {
  english,
  toCanonicalLocale,
  toLanguage,
  type Locale,
  chooseLocale,
  findLanguages,
} from '../../bot/locale.ts';
import { localesFolder, type CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { type Cookie, createCookie, readCookie, setCookie } from '../../http/cookies.ts';
import type { Log } from '../../lib/log.ts';
import {
  createDates,
  type Dates,
  type MessageKey,
  type MessageTexts,
  parseMessages,
  createMessages,
  type Messages,
} from './messages.tsx';

/** The language of a page. */
export interface PageLanguage extends Messages {
  /** Every category that a bot can have. */
  readonly categories: readonly Category[];
  /** Returns the name of a category, in the nearest language that has one. */
  readonly categoryName: (category: Category) => string;
  /** Returns the title of a category's list, such as “Game bots”. */
  readonly categoryTitle: (category: Category) => string;
  /** Returns what the bots of a category do, if the settings say it in the language. */
  readonly categoryText: (category: Category) => string | undefined;
  /** The language in the address, or else in the cookie, in canonical case; undefined without either. */
  readonly requested: Locale | undefined;
  /**
   * The language ranges for texts in other languages than the interface, best first: those of the reader, the language
   * of the interface, that of the list, and English. Empty for a client that names no language.
   */
  readonly wanted: readonly string[];
  /** Returns the reader's languages among those of bots. */
  readonly findAmong: (locales: readonly Locale[]) => ReaderLanguages;
  /** The languages of the interface. */
  readonly locales: readonly Locale[];
  /** Returns a path of this site as a path below that of the public address. */
  readonly href: (path: string) => string;
}

/** The languages of the interface: one for each file of `locales/`. */
export class Languages {
  /** English first, then in order of tag. */
  readonly locales: readonly Locale[];
  readonly #settings: () => CatalogueSettings;
  readonly #texts: ReadonlyMap<Locale, MessageTexts>;
  /** The language that a reader chose in the menu. */
  readonly #cookie: Cookie;
  readonly #log: Log;
  readonly #href: (path: string) => string;
  readonly #messages = new Map<Locale, Messages>();
  readonly #dates = new RegionalDates();

  /**
   * Reads all files. A file that is not JSON is skipped and logged.
   * @param settings returns those in force, which name the default language
   * @param href returns the address of a path of this site: below the public address or, for a form on a copy of a
   * list, at the original
   * @throws {Error} when the English file cannot be read
   */
  constructor(
    log: Log,
    settings: () => CatalogueSettings,
    href = (path: string): string => path,
    basePath = '',
    folder = localesFolder,
  ) {
    this.#log = log;
    this.#settings = settings;
    this.#href = href;
    this.#cookie = createCookie('botshelf-language', basePath);
    this.#texts = readFiles(folder, log);
    this.locales = [...this.#texts.keys()].toSorted((a, b) => Number(b === english) - Number(a === english));
    if (this.locales[0] !== english) throw new Error(`${folder}/en.json cannot be read`);
  }

  /**
   * Returns the language of a page for its reader: the best match of `?locale=`, the cookie and Accept-Language among
   * the languages of the interface, or else the default.
   */
  of(ctx: Context): PageLanguage {
    const remembered = toCanonicalLocale(readCookie(ctx, this.#cookie) ?? '');
    return this.choose(readLocale(ctx) ?? remembered, ctx.get('Accept-Language'));
  }

  /**
   * Returns the language of the interface in the address; undefined if the address names none.
   * @param isRemembered whether the browser keeps the language, because the reader chose it on a page of this site
   */
  findChosen(ctx: Context, isRemembered: boolean): Locale | undefined {
    const locale = this.locales.find((known) => known === readLocale(ctx));
    if (locale && isRemembered) setCookie(ctx, this.#cookie, { text: locale, seconds: secondsPerYear });
    return locale;
  }

  /** Returns the messages for programs: in the language of the address, or else the default. */
  inAddress(ctx: Context): PageLanguage {
    return this.choose(readLocale(ctx), '');
  }

  /** Returns the language for the tag in the address and the value of Accept-Language. */
  choose(requested: Locale | undefined, accepted: string): PageLanguage {
    const { language, categories, categoryTexts } = this.#settings();
    const ranges = listWantedRanges(requested, accepted);
    const standard = this.#texts.has(language) ? language : english;
    const locale = chooseLocale([standard, ...this.locales], ranges) ?? english;
    const wanted = ranges.length === 0 ? [] : [...ranges, locale, language, english];
    const chosen = requested === undefined ? ranges : [requested];
    return {
      ...this.messages(locale),
      ...this.#dates.get(locale, ranges),
      requested,
      wanted,
      findAmong: (locales) => ({
        wanted: findLanguages([...wanted, locale], locales),
        known: findLanguages([...chosen, locale], locales),
      }),
      categories,
      categoryName: (category) => this.#categoryName(category, locale),
      categoryTitle: (category) => this.#categoryTitle(category, locale),
      categoryText: (category) => findText(categoryTexts[category], locale),
      locales: this.locales,
      href: this.#href,
    };
  }

  /**
   * Returns the name of a category: the catalogue's in the language, the interface's, or the catalogue's in the
   * default language or English.
   */
  #categoryName(category: Category, locale: Locale): string {
    return (
      this.#ownName(category, locale) ??
      this.#findText(`category.${category}`, locale) ??
      this.#ownName(category, this.#settings().language) ??
      this.#ownName(category, english) ??
      category
    );
  }

  #categoryTitle(category: Category, locale: Locale): string {
    const isNamed = this.#ownName(category, locale) !== undefined;
    const title = isNamed ? undefined : this.#findText(`list.category.${category}`, locale);
    const name = this.#categoryName(category, locale);
    return title ?? this.messages(locale).text('list.category', { category: name });
  }

  #ownName(category: Category, locale: Locale): string | undefined {
    return findText(this.#settings().categoryNames.get(category), locale);
  }

  /** Returns a text of the interface; undefined for a key that it does not have. */
  #findText(key: string, locale: Locale): string | undefined {
    const text = this.messages(locale).text(key as MessageKey);
    return text === key ? undefined : text;
  }

  /** Returns the messages of one of `locales`. Parses them on first use, and logs their faults. */
  messages(locale: Locale): Messages {
    const known = this.#messages.get(locale);
    if (known !== undefined) return known;
    const file = parseMessages(locale, this.#texts.get(locale) ?? {}, this.#texts.get(english) ?? {});
    for (const fault of file.faults) this.#log.warn({ locale }, `${fault}; the text is in English instead`);
    const messages = createMessages(
      locale,
      file.messages,
      locale === english ? null : this.messages(english),
    );
    this.#messages.set(locale, messages);
    return messages;
  }
}

/** Returns the text in a language, or else in that language without its region. */
function findText(texts: Readonly<Record<string, string>> = {}, locale: Locale): string | undefined {
  return texts[locale] ?? texts[toLanguage(locale)];
}

const secondsPerYear = 31_536_000;

function readLocale(ctx: Context): Locale | undefined {
  const [, tag = ''] = /(?:^|&)locale=([A-Za-z0-9-]{1,35})(?:&|$)/.exec(ctx.querystring) ?? [];
  return toCanonicalLocale(tag);
}

function readFiles(folder: string, log: Log): Map<Locale, MessageTexts> {
  const texts = new Map<Locale, MessageTexts>();
  for (const name of readdirSync(folder).toSorted()) {
    const tag = name.replace(/\.json$/, '');
    const locale = toCanonicalLocale(tag);
    const read = readTexts(`${folder}/${name}`);
    if (locale !== undefined && locale === tag && read !== undefined) texts.set(locale, read);
    else {
      const path = `locales/${name}`;
      const reason = read === undefined ? 'is not a JSON object' : 'is not named by a language tag';
      log.warn({ path }, `${path} ${reason}; this language is left out`);
    }
  }
  return texts;
}

function readTexts(path: string): MessageTexts | undefined {
  try {
    const data: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof data === 'object' && data !== null ? (data as MessageTexts) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the language ranges that a reader prefers, best first: that of the address, then those of the browser. At
 * most twenty, because each bot of a list is compared with all of them.
 * @param requested the value of `?locale=`
 * @param accepted the value of Accept-Language
 */
export function listWantedRanges(requested: string | undefined, accepted: string): string[] {
  return [...(requested === undefined ? [] : [requested]), ...parseLanguageRanges(accepted)].slice(0, 20);
}

/** The languages of a reader, as language tags of the catalogue. */
export interface ReaderLanguages {
  /** The languages in which to show bots, best first. */
  readonly wanted: readonly Locale[];
  /** The languages that the reader chose in the address, or else in the browser, and that of the interface. */
  readonly known: readonly Locale[];
}

/**
 * Parses an Accept-Language header into its ranges, highest weight first. Leaves out ranges of weight 0, and those
 * after `*`, because `*` accepts any language before them.
 */
export function parseLanguageRanges(header: string): string[] {
  const parts = header.slice(0, 500).matchAll(/([^\s,;]+)\s*(?:;([^,]*))?/g);
  const sorted = Array.from(parts, ([, range = '', parameters = '']) => {
    return { range, weight: Number(/(?:^|;)\s*q=([^;]*)/.exec(parameters)?.[1] ?? 1) };
  })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ range }) => range);
  return sorted.includes('*') ? sorted.slice(0, sorted.indexOf('*')) : sorted;
}

/** The dates of readers by region. Regions with the same names of months share their dates, and so their pages. */
class RegionalDates {
  readonly #byTag = new Map<string, Dates>();
  readonly #byMonths = new Map<string, Dates>();

  /**
   * Returns dates as written in the reader's region: that of the first wanted range in the page's language.
   * @param locale the language of the page
   * @param wanted the language ranges that the reader prefers, best first
   */
  get(locale: Locale, wanted: readonly string[]): Dates {
    const language = toLanguage(locale);
    const own = wanted
      .map((range) => toCanonicalLocale(range))
      .find((tag) => tag !== undefined && toLanguage(tag) === language);
    const [, region] = /-([A-Z]{2})(?:-|$)/.exec(own ?? '') ?? [];
    const tag = region === undefined ? locale : `${language}-${region}`;
    const known = this.#byTag.get(tag);
    if (known !== undefined) return known;
    if (tag !== locale) this.get(locale, []);
    const dates = createDates(tag, new Intl.NumberFormat(locale).resolvedOptions().numberingSystem);
    const months = Array.from({ length: 12 }, (_, month) => dates.day(Date.UTC(2026, month, 2)));
    const shared = this.#byMonths.get(months.join()) ?? dates;
    this.#byMonths.set(months.join(), shared);
    this.#byTag.set(tag, shared);
    return shared;
  }
}
