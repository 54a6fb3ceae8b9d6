import { weakWords, withoutStopWords } from './language-words.ts';
import type { NamedNeed, Needs } from './needs.ts';
import { splitTypedWords, type Word, withoutBot } from './words.ts';

/** A word of a query. */
export interface Term extends Word {
  /** It joined with a neighbour, and without the "bot" at its end. */
  readonly others: readonly string[];
  readonly needs: readonly NamedNeed[];
  /** Where it is in the query, in places of a text. */
  readonly place: number;
  /** What it counts beside other terms of the query: 1 unless it says little. */
  readonly weight: number;
}

/** A query, understood. */
export interface Query {
  readonly terms: readonly Term[];
  /** What may be a whole name: all words as one. */
  readonly name: string;
  /** What may be the id of a bot. */
  readonly ids: readonly string[];
}

/**
 * Reads what people type: words, a whole name, an id, a sentence.
 * @param needs null where they do not count
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
  const named = needs?.find([...new Set(used.flatMap(({ text }) => [text, withoutBot(text)]))]);
  const terms = new Map<string, Term>();
  for (const piece of used) {
    const number = pieces.indexOf(piece);
    const joined = piece.unspaced ? [] : pairs.slice(Math.max(0, number - 1), number + 1);
    const others = [...joined, withoutBot(piece.text)].filter((other) => other !== piece.text);
    const meant = new Set([piece.text, ...others].flatMap((word) => named?.get(word) ?? []));
    const weight = weakWords.has(piece.text) && telling[0] !== undefined ? weakWeight : 1;
    terms.set(piece.text, { ...piece, others, needs: [...meant], weight });
  }
  const name = pieces.map((piece) => piece.text).join('');
  const ids = pieces.filter((piece) => /^\d{1,20}$/.test(piece.text)).map((piece) => piece.text);
  return { terms: [...terms.values()], name, ids };
}

const weakWeight = 0.25;

/** Words beyond this number are ignored. */
const maxPieces = 24;
