import { normalise } from './normalise.ts';
import { withoutParticle } from './stop-words.ts';

/** A stretch of letters and digits of one script. */
export interface Run {
  readonly text: string;
  /** Whether its script puts no spaces between words, or joins particles to them. */
  readonly unspaced: boolean;
  /** Whether only a hyphen or the like is between it and the next run: "e-mail". */
  readonly joinsNext: boolean;
}

/**
 * Splits a text into runs: at what is neither letter nor digit, and at a change of script. `c++` and `c#` stay whole.
 */
export function splitRuns(text: string): Run[] {
  const folded = normalise(text);
  const runs: Run[] = [];
  for (const match of folded.matchAll(pattern)) {
    const [whole, unspaced] = match;
    if (whole.length > maxRunLength) continue;
    const end = match.index + whole.length;
    const joinsNext = unspaced === undefined && joins(folded, end);
    const bare = unspaced === undefined ? withoutArticle(whole) : whole;
    runs.push({ text: bare, unspaced: unspaced !== undefined, joinsNext });
  }
  return runs;
}

/** A place in a text: a word takes up one, a letter of an unspaced script too. */
export type OnWord = (word: string, place: number) => void;

/**
 * Calls back with each word that a text is found by. Unspaced scripts are cut into pairs of letters, as only a
 * dictionary knows their words. Words with hyphens between them are also one: "e-mail" is found by "email".
 * @param place where the first word is
 * @returns the place after the last word
 */
export function forEachWord(text: string, place: number, onWord: OnWord): number {
  let chain: string[] = [];
  for (const { text: word, unspaced, joinsNext } of splitRuns(text)) {
    if (unspaced) {
      const letters = Array.from(word);
      letters.forEach((letter, i) => onWord(letter + (letters[i + 1] ?? ''), place + i));
      place += letters.length;
      continue;
    }
    onWord(word, place++);
    chain.push(word);
    if (joinsNext) continue;
    if (chain.length > 1 && chain.length <= maxChainLength) onWord(chain.join(''), place - chain.length);
    chain = [];
  }
  return place;
}

/** Returns the pairs of letters that a word of an unspaced script is looked up by. */
export function listLetterPairs(word: string): string[] {
  const letters = Array.from(word);
  return letters.length < 2 ? letters : letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

/** A word that a person typed. */
export type TypedWord = Pick<Run, 'text' | 'unspaced'>;

/** Splits what a person typed into words; those of an unspaced script as a dictionary has them. */
export function splitTypedWords(text: string): TypedWord[] {
  return splitRuns(text).flatMap((run): TypedWord[] => {
    if (!run.unspaced) return [run];
    segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' });
    return Array.from(segmenter.segment(run.text), ({ segment }) => ({
      text: withoutParticle(segment),
      unspaced: true,
    }));
  });
}

/** Made when it is first needed, which takes milliseconds. */
let segmenter: Intl.Segmenter | undefined;

/** Separates words that only capitals separate: DankMemer. */
export function separateCapitals(name: string): string {
  return name.replace(/(\p{Ll})(\p{Lu})/gu, '$1-$2');
}

function joins(text: string, end: number): boolean {
  const rest = text.slice(end, end + 4);
  return /^[-_./+&][a-z0-9]/.test(rest) || /^['’][a-z]{1,2}(?![a-z])/.test(rest);
}

/** Returns a word without the article, and the short words before it, that Arabic writes as part of it. */
function withoutArticle(word: string): string {
  return word.replace(/^(?:[وفبك]?ال|لل)(?=\p{L}{3})/u, '');
}

/** Nothing that long is a word; addresses and keys are. */
const maxRunLength = 40;
const maxChainLength = 3;

const unspacedScripts = [
  String.raw`[\p{sc=Han}々]+`,
  String.raw`[\p{sc=Hira}]+`,
  String.raw`[\p{sc=Kana}ー]+`,
  String.raw`[\p{sc=Hang}]+`,
  String.raw`[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]+`,
];
const spacedScripts = [
  String.raw`[a-z]{1,2}(?:\+\+|#)(?![\p{L}\p{N}+#])`,
  String.raw`[\p{sc=Latn}\p{N}]+`,
  String.raw`[\p{sc=Cyrl}\p{M}\p{N}]+`,
  String.raw`[\p{sc=Grek}\p{N}]+`,
  String.raw`[\p{sc=Arab}\p{M}\p{N}]+`,
  String.raw`(?:(?![\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}\p{sc=Arab}])[\p{L}\p{M}\p{N}])+`,
];
const pattern = new RegExp(`(${unspacedScripts.join('|')})|${spacedScripts.join('|')}`, 'gu');
