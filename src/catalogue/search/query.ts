import type { Category } from '../../../schemas/types.ts';
import type { CatalogueSettings } from '../settings/settings.ts';
import { botOf, Field, placeOf } from './postings.ts';
import { toLanguageBit } from './stems.ts';
import { PostingsBuilder, WordIndex } from './word-index.ts';
import {
  languageWords,
  weakWords,
  withoutStopWords,
  splitTypedWords,
  type Word,
  withoutBot,
} from './words.ts';

/** A word of a query. */
export interface Term extends Word {
  /** The term joined with a neighbour, or without "bot" at its end or "anti" at its beginning. */
  readonly others: readonly string[];
  readonly needs: readonly NamedNeed[];
  /** The needs that the term names only together with a neighbour. */
  readonly lentNeeds: readonly NamedNeed[];
  /** The place of the term in the query. */
  readonly place: number;
  /** Weight next to other terms of the query: 1, or less for a word that says little. */
  readonly weight: number;
}

/** A parsed query. */
interface Query {
  readonly terms: readonly Term[];
  /** All words joined, in case they are a bot's name. */
  readonly name: string;
  /** Whether the query has several words that tell something. */
  readonly isPhrase: boolean;
  /** The words that may be ids of bots. */
  readonly ids: readonly string[];
}

/** Parses what people type: words, a whole name, an id, a sentence. @param needs null to ignore the meanings of words */
export function readQuery(text: string, needs: Needs | null): Query {
  let next = 0;
  const pieces = splitTypedWords(text)
    .slice(0, maxPieces)
    .map((word) => {
      const place = next;
      next += word.unspaced ? Array.from(word.text).length : 1;
      return { ...word, place };
    });
  const used = withoutStopWords(pieces, true);
  const isPhrase = withoutStopWords(pieces, false).length > 1;
  const pairs = pieces.slice(1).map((piece, i) => (pieces[i]?.text ?? '') + piece.text);
  const named = needs?.find([...new Set([...used.flatMap(({ text }) => [text, bare(text)]), ...pairs])]);
  const needsOf = (word: string): readonly NamedNeed[] => named?.get(word) ?? [];
  const terms = new Map<string, Term>();
  for (const piece of used) {
    const number = pieces.indexOf(piece);
    const joined = piece.unspaced ? [] : pairs.slice(Math.max(0, number - 1), number + 1);
    const others = [...joined, bare(piece.text)].filter((other) => other !== piece.text);
    const own = [...new Set([piece.text, bare(piece.text)])].flatMap(needsOf);
    const lentNeeds = joined.flatMap(needsOf).filter((need) => !own.includes(need));
    const weight = weakWords.has(piece.text) ? weakWeight : 1;
    terms.set(piece.text, { ...piece, others, needs: own, lentNeeds, weight });
  }
  const name = pieces.map((piece) => piece.text).join('');
  const ids = pieces.filter((piece) => /^\d{1,20}$/.test(piece.text)).map((piece) => piece.text);
  return { terms: [...terms.values()], name, isPhrase, ids };
}

/** Removes a beginning or an end that many words have: "antispam", "musicbot". */
function bare(word: string): string {
  return withoutBot(word).replace(/^anti(?=\p{L}{3})/u, '');
}

const weakWeight = 0.25;

/** Maximum number of words; the others are ignored. */
const maxPieces = 24;

/** Something that people look for: a category, or a feature that bots of several categories have, with names in many languages. */
interface Need {
  readonly category: Category | undefined;
  /** The names by their text, normalised and without spaces. */
  readonly words: Map<string, Word & { readonly locales: Set<string> }>;
}

/** A need, and the language of the name that was found. */
export interface NamedNeed extends Need {
  readonly locale: string;
}

/** The meanings of words in queries: names of categories, and groups of words that mean the same. */
export class Needs {
  /** Every word of every name. In its postings, the number of a name stands in place of a bot's. */
  readonly index: WordIndex;
  readonly #names: { readonly need: NamedNeed; readonly telling: readonly number[] }[] = [];

  /** @param groups words that mean the same, by language if they belong to one */
  constructor(groups: Iterable<readonly [Need['category'], NamesByLanguage]>) {
    const builder = new PostingsBuilder();
    for (const [category, names] of groups) {
      const need: Need = { category, words: new Map() };
      for (const [locale, name] of names) {
        const words = splitTypedWords(name);
        const joined = words.map(({ text }) => text).join('');
        const { locales } = need.words.get(joined) ?? { locales: new Set() };
        const unspaced = words.every((word) => word.unspaced);
        // A word that says little names a need, but is no synonym.
        if (!weakWords.has(joined))
          need.words.set(joined, { text: joined, unspaced, locales: locales.add(locale) });
        for (const [place, { text }] of words.entries())
          builder.add(text, this.#names.length, Field.name, place, toLanguageBit(locale));
        const telling = withoutStopWords(words, false);
        this.#names.push({ need: { ...need, locale }, telling: telling.map((word) => words.indexOf(word)) });
      }
    }
    this.index = new WordIndex(builder.pack());
  }

  /**
   * Returns the needs of words, by word. A need is found if all telling words of one of its names are here, in any
   * form and order. If several needs share a word, those with the best matching name count.
   */
  find(words: readonly string[]): Map<string, NamedNeed[]> {
    const seen = new Map<number, Map<number, { readonly word: string; readonly fit: number }>>();
    for (const word of words) {
      for (const { postings, fit } of this.index.formsOf(word, 1)) {
        for (const posting of postings) {
          const places = seen.get(botOf(posting)) ?? new Map<number, { word: string; fit: number }>();
          if ((places.get(placeOf(posting))?.fit ?? 0) < fit) places.set(placeOf(posting), { word, fit });
          seen.set(botOf(posting), places);
        }
      }
    }
    const found = new Map<string, { readonly fit: number; readonly needs: NamedNeed[] }>();
    for (const [number, places] of seen) {
      const name = this.#names[number];
      const used = name?.telling.flatMap((place) => places.get(place)?.word ?? []) ?? [];
      if (name === undefined || used.length < name.telling.length) continue;
      const sum = [...places.values()].reduce((total, { fit }) => total + fit, 0);
      for (const word of used) {
        const { fit, needs } = found.get(word) ?? { fit: 0, needs: [] };
        if (sum >= fit) found.set(word, { fit: sum, needs: sum > fit ? [name.need] : [...needs, name.need] });
      }
    }
    return new Map(Array.from(found, ([word, { needs }]) => [word, needs]));
  }
}

/** Names, each with its language. */
type NamesByLanguage = readonly (readonly [locale: string, name: string])[];

/** Returns the needs of the settings and the built-in ones; the same object for the same settings. */
export function getNeeds(settings: SearchedSettings): Needs {
  const known = made.get(settings);
  if (known !== undefined) return known;
  const { categories, categoryNames, synonyms, language } = settings;
  const groups = new Map<string, NamesByLanguage>();
  const add = (id: string, locale: string, names: readonly string[]): void => {
    groups.set(id, [...(groups.get(id) ?? []), ...names.map((name) => [locale, name] as const)]);
  };
  for (const category of categories) {
    if (category === 'other') continue;
    add(category, 'en', [category]);
    for (const [locale, name] of Object.entries(categoryNames.get(category) ?? {}))
      add(category, locale, [name]);
  }
  for (const [locale, { needs }] of languageWords)
    for (const [id, names] of Object.entries(needs)) add(id, locale, names.split(' '));
  for (const [i, words] of synonyms.entries()) add(`synonyms ${i}`, language, words);
  const needs = new Needs(
    Array.from(groups, ([id, names]) => [categories.find((category) => category === id), names]),
  );
  made.set(settings, needs);
  return needs;
}

type SearchedSettings = Pick<CatalogueSettings, 'categories' | 'categoryNames' | 'synonyms' | 'language'>;

const made = new WeakMap<SearchedSettings, Needs>();
