import type { Locale } from '../../bot/locale.ts';
import { readQuery, type Term } from './query.ts';
import { toLanguageBit, Stems } from './stems.ts';
import { forEachWord, listLetterPairs, separateCapitals } from './words.ts';

/** A bot's name and description in each of its languages, its default one first. */
type Texts = Readonly<Record<string, { readonly name: string; readonly description: string }>>;

/** Returns the languages in which a bot's name and description have most words of a text; none where they have none. */
export function findMatchingLocales(contents: Texts, text: string): Locale[] {
  const { terms } = readQuery(text, null);
  let best: Locale[] = [];
  let maxCount = 1;
  for (const [locale, { name, description }] of Object.entries(contents)) {
    const words = new Set<string>();
    forEachWord(`${separateCapitals(name)}\n${description}`, 0, (word) => words.add(word));
    const count = terms.filter((term) => hasTerm(words, term, toLanguageBit(locale))).length;
    if (count > maxCount) [best, maxCount] = [[], count];
    if (count === maxCount) best.push(locale as Locale);
  }
  return best;
}

function hasTerm(words: ReadonlySet<string>, { text, others, unspaced }: Term, language: number): boolean {
  if (unspaced) return listLetterPairs(text).every((pair) => words.has(pair));
  const stems = new Stems(text);
  return (
    [text, ...others].some((word) => words.has(word)) ||
    [...words].some((word) => stems.areSharedBy(word, language))
  );
}
