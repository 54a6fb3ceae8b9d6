import type { CategoryWords } from './category-words.ts';
import { withoutBot, withoutStopWords } from './stop-words.ts';
import { listLetterPairs, splitTypedWords, type TypedWord } from './words.ts';

/** A word of a query. */
export interface Term {
  readonly text: string;
  /** It joined with a neighbour, or spelled right. */
  readonly others: readonly OtherWord[];
  /** Pairs of letters to look up, of which a bot must have most; none where the script has spaces. */
  readonly pairs: readonly string[];
  /** Where it is in the query, in places of a text. */
  readonly place: number;
  /** Whether it may be the beginning of a longer word. */
  readonly open: boolean;
  readonly category: string | undefined;
}

/** A word to look up in the place of another, and how well it fits. */
export interface OtherWord {
  readonly word: string;
  readonly fit: number;
}

/** A query, understood. */
export interface Query {
  readonly terms: readonly Term[];
  /** What may be a whole name or the beginning of one: all words as one, and without those that say nothing. */
  readonly names: readonly string[];
  /** What may be the id of a bot. */
  readonly ids: readonly string[];
}

/**
 * Reads what people type: words, a whole name, an id, a sentence.
 * @param words the names of categories; null where they do not count
 */
export function readQuery(text: string, words: CategoryWords | null): Query {
  const pieces = withPlaces(splitTypedWords(text).slice(0, maxPieces));
  const used = withoutStopWords(pieces);
  const categories = words?.ofLongerNames(pieces.map((piece) => piece.text));
  const terms = new Map<string, Term>();
  for (const piece of used)
    terms.set(piece.text, {
      ...createTerm(piece, pieces, piece === pieces.at(-1)),
      category: categories?.get(piece.text) ?? words?.of(withoutBot(piece.text)),
    });
  const joined = [pieces, used].map((some) => some.map((piece) => piece.text).join(''));
  const ids = pieces.filter((piece) => /^\d{1,20}$/.test(piece.text)).map((piece) => piece.text);
  return { terms: [...terms.values()], names: [...new Set(joined)].filter((name) => name !== ''), ids };
}

interface Piece extends TypedWord {
  readonly place: number;
}

function withPlaces(pieces: readonly TypedWord[]): Piece[] {
  let place = 0;
  return pieces.map((piece) => {
    const placed = { ...piece, place };
    place += piece.unspaced ? Array.from(piece.text).length : 1;
    return placed;
  });
}

function createTerm(piece: Piece, pieces: readonly Piece[], last: boolean): Omit<Term, 'category'> {
  const { text, unspaced } = piece;
  const letters = Array.from(text);
  const number = pieces.indexOf(piece);
  const [before, after] = [pieces[number - 1], pieces[number + 1]];
  const others: string[] = [];
  if (before && !unspaced && !before.unspaced) others.push(before.text + text);
  if (after && !unspaced && !after.unspaced) others.push(text + after.text);
  if (withoutBot(text) !== text) others.push(withoutBot(text));
  return {
    text,
    others: others.map((word) => ({ word, fit: joinedFit })),
    pairs: unspaced ? listLetterPairs(text) : [],
    place: piece.place,
    open: (last && letters.length > 1) || (unspaced && letters.length === 1),
  };
}

const joinedFit = 0.95;

/** Words beyond this number are ignored. */
const maxPieces = 24;
