import { type Change, diffWordsWithSpace } from 'diff';
import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';

/** What was added or removed, with a word for screen readers. An addition that can do harm is not shown as good. */
export function Changed({
  added,
  value,
  isHarmful = false,
}: Pick<Words, 'added' | 'value'> & { readonly isHarmful?: boolean }): VNode {
  const { t } = useLanguage();
  const Mark = added ? 'ins' : 'del';
  return (
    <>
      <span class="out-of-sight">{t(added ? 'edit.added' : 'edit.removed')} </span>
      <Mark class={isHarmful ? 'harm' : undefined}>{value}</Mark>
    </>
  );
}

/** A part of two texts: words that both have, or that were added or removed. */
export type Words = Readonly<Pick<Change, 'value' | 'added' | 'removed'>>;

/** Compares two texts word by word. Returns null if too many words differ or it takes too long. */
export function diffWords(before: string, after: string): readonly Words[] | null {
  const limits = { timeout: maxWordsMs, maxEditLength: maxChangedWords };
  return diffWordsWithSpace(before, after, limits) ?? null;
}

/** The time grows with the square of the words that differ, and a proposal has several pages. */
const maxChangedWords = 200;
const maxWordsMs = 20;

/** The words of a text that change, each marked with a colour and a word for screen readers, with a few words around them. */
export function WordDiff({ words }: { readonly words: readonly Words[] }): VNode {
  const parts = words.map(({ value, added, removed }, i) => {
    if (!added && !removed) return value.replace(unchangedMiddle, '$1 … $2');
    return <Changed key={i} added={added} value={value} />;
  });
  return <>{parts}</>;
}

/** What is far from any change, in a part of a text that stays. */
const unchangedMiddle = /^(.{200})(?:.{100,})(.{200})$/su;
