import type { Category } from '../../bot/schema-types.ts';
import type { CatalogueSettings } from '../settings/settings.ts';
import { languageWords, withoutStopWords, splitTypedWords, type Word } from './words.ts';
import { botOf, Field, placeOf } from './postings.ts';
import { PostingsBuilder } from './postings-builder.ts';
import { toLanguageBit } from './stems.ts';
import { WordIndex } from './word-index.ts';

/** What people look for: a category, or something that bots of several do; and the words for it in many languages. */
export interface Need {
  readonly category: Category | undefined;
  /** By their text, which is folded and without spaces. */
  readonly words: Map<string, Word & { readonly locales: Set<string> }>;
}

/** A need that a word names, in some language. */
export interface NamedNeed extends Need {
  readonly locale: string;
}

/** What the words of queries are looked for as well: names of categories, and words that mean the same. */
export class Needs {
  /** Every word of every name. The number of a posting's "bot" is that of a name, the place is that in the name. */
  readonly index: WordIndex;
  readonly #names: { readonly need: NamedNeed; readonly telling: readonly number[] }[] = [];

  /** @param groups words that mean the same, by language where they are of one */
  constructor(groups: Iterable<readonly [Need['category'], NamesByLanguage]>) {
    const builder = new PostingsBuilder();
    for (const [category, names] of groups) {
      const need: Need = { category, words: new Map() };
      for (const [locale, name] of names) {
        const words = splitTypedWords(name);
        const joined = words.map(({ text }) => text).join('');
        const { locales } = need.words.get(joined) ?? { locales: new Set() };
        const unspaced = words.every((word) => word.unspaced);
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
   * Returns the needs that words name, by word: those of which a name has all its telling words here, in any form and
   * order. Of several that share a word those count whose names fit best.
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

/** Returns the needs that settings name, with the usual ones; the same for the same settings. */
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
