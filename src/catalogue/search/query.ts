import type { Locale } from '../../bot/locale.ts';
import type { NamedNeed, Needs } from './bot-search.ts';
import { toLanguageBit, Stems } from './stems.ts';
import {
  weakWords,
  withoutStopWords,
  splitTypedWords,
  type Word,
  withoutBot,
  forEachWord,
  listLetterPairs,
  separateCapitals,
} from './words.ts';

/** A word of a query. */
export interface Term extends Word {
  /** It joined with a neighbour, and without "bot" at its end or "anti" at its beginning. */
  readonly others: readonly string[];
  readonly needs: readonly NamedNeed[];
  /** Where it is in the query, in places of a text. */
  readonly place: number;
  /** What it counts next to other terms of the query: 1 unless it says little. */
  readonly weight: number;
}

/** A query, understood. */
interface Query {
  readonly terms: readonly Term[];
  /** What may be a whole name: all words as one. */
  readonly name: string;
  /** Whether it has several words that tell something. */
  readonly isPhrase: boolean;
  /** What may be the id of a bot. */
  readonly ids: readonly string[];
}

/**
 * Reads what people type: words, a whole name, an id, a sentence.
 * @param needs null if they do not count
 */
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
  const telling = withoutStopWords(pieces, false);
  const pairs = pieces.slice(1).map((piece, i) => (pieces[i]?.text ?? '') + piece.text);
  const named = needs?.find([...new Set([...used.flatMap(({ text }) => [text, bare(text)]), ...pairs])]);
  const terms = new Map<string, Term>();
  for (const piece of used) {
    const number = pieces.indexOf(piece);
    const joined = piece.unspaced ? [] : pairs.slice(Math.max(0, number - 1), number + 1);
    const others = [...joined, bare(piece.text)].filter((other) => other !== piece.text);
    const meant = new Set([piece.text, ...others].flatMap((word) => named?.get(word) ?? []));
    const weight = weakWords.has(piece.text) && telling[0] !== undefined ? weakWeight : 1;
    terms.set(piece.text, { ...piece, others, needs: [...meant], weight });
  }
  const name = pieces.map((piece) => piece.text).join('');
  const ids = pieces.filter((piece) => /^\d{1,20}$/.test(piece.text)).map((piece) => piece.text);
  return { terms: [...terms.values()], name, isPhrase: telling.length > 1, ids };
}

/** Returns a word without what many words have in front or behind: "antispam", "musicbot". */
function bare(word: string): string {
  return withoutBot(word).replace(/^anti(?=\p{L}{3})/u, '');
}

const weakWeight = 0.25;

/** Words beyond this number are ignored. */
const maxPieces = 24;

/** A bot's name and description in each of its languages, its default one first. */
type Texts = Readonly<Record<string, { readonly name: string; readonly description: string }>>;

/** Returns the languages in which a bot's name and description have words of a text, those with most of them first. */
export function findMatchingLocales(contents: Texts, text: string): Locale[] {
  const { terms } = readQuery(text, null);
  const counts = Object.entries(contents).map(([locale, { name, description }]) => {
    const words = new Set<string>();
    forEachWord(`${separateCapitals(name)}\n${description}`, 0, (word) => words.add(word));
    const count = terms.filter((term) => hasTerm(words, term, toLanguageBit(locale))).length;
    return { locale: locale as Locale, count };
  });
  const matching = counts.filter(({ count }) => count > 0);
  return matching.toSorted((a, b) => b.count - a.count).map(({ locale }) => locale);
}

function hasTerm(words: ReadonlySet<string>, { text, others, unspaced }: Term, language: number): boolean {
  if (unspaced) return listLetterPairs(text).every((pair) => words.has(pair));
  const stems = new Stems(text);
  return (
    [text, ...others].some((word) => words.has(word)) ||
    [...words].some((word) => stems.areSharedBy(word, language))
  );
}
