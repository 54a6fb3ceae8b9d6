import { withoutParticle } from './stop-words.ts';
import { type Run, splitRuns } from './words.ts';

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
