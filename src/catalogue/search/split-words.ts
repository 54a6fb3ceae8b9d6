import type { Locale } from '../../bot/locale.ts';
import { readQuery, type Term } from './query.ts';
import { Stems, toLanguageBit } from './stems.ts';
import { splitRuns } from './words.ts';

/** Splits a text at the words that a search looks for. Every second piece is such a word. */
export type WordSplitter = (text: string, locale: Locale) => string[];

/** Returns the splitter of a search for a text. Words that say less than others are not looked for. */
export function createWordSplitter(query: string): WordSplitter {
  const all = readQuery(query, null).terms;
  const mostWeight = Math.max(...all.map(({ weight }) => weight));
  const terms = all
    .filter(({ weight }) => weight === mostWeight)
    .map((term) => ({ ...term, stems: new Stems(term.text) }));
  return (text, locale) => {
    const language = toLanguageBit(locale);
    const pieces: string[] = [];
    let end = 0;
    for (const { 0: run, index } of text.matchAll(runs)) {
      const found = findTerm(run, terms, language);
      if (found === undefined) continue;
      const start = index + run.indexOf(found);
      pieces.push(text.slice(end, start), found);
      end = start + found.length;
    }
    return [...pieces, text.slice(end)];
  };
}

/** A bot's name and description in each of its languages, its default one first. */
type Texts = Readonly<Record<string, { readonly name: string; readonly description: string }>>;

/** Returns the languages in which a bot's name and description have words of a search, those with most words first. */
export function findMatchingLocales(contents: Texts, splitWords: WordSplitter): Locale[] {
  const counts = Object.entries(contents).map(([tag, { name, description }]) => {
    const locale = tag as Locale;
    return { locale, count: splitWords(`${name}\n${description}`, locale).length };
  });
  const matching = counts.filter(({ count }) => count > 1);
  return matching.toSorted((a, b) => b.count - a.count).map(({ locale }) => locale);
}

/** Returns the part of a run that is a term: only the term's letters in a script without spaces, otherwise the whole run. */
function findTerm(
  run: string,
  terms: readonly (Term & { readonly stems: Stems })[],
  language: number,
): string | undefined {
  const words = splitRuns(run).map(({ text }) => text);
  for (const { text, others, unspaced, stems } of terms) {
    if (unspaced && run.includes(text)) return text;
    const isForm = (word: string): boolean =>
      [text, ...others].some(
        (known) => word.startsWith(known) && (known.length >= minBeginningLength || word === known),
      ) || stems.areSharedBy(word, language);
    if (!unspaced && words.some(isForm)) return run;
  }
  return undefined;
}

const minBeginningLength = 4;

const runs = /[\p{L}\p{M}\p{N}]+[+#]*/gu;
