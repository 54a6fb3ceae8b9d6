import { type Change, diffWordsWithSpace, structuredPatch, type StructuredPatchHunk } from 'diff';
import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';

/** The lines of a file that change, each marked with a sign, a colour and a word for screen readers. */
export function FileDiff({ before, after }: { readonly before: string; readonly after: string }): VNode {
  const { t, text } = useLanguage();
  if (before === after) return <p>{t('edit.unchanged')}</p>;
  const parts = diffLines(before, after);
  if (parts === null) return <p>{t('edit.large')}</p>;
  return (
    <div class="diff" role="group" aria-label={text('edit.change')} tabIndex={0}>
      {parts.map(({ oldStart, lines }) => (
        <ol key={oldStart} start={oldStart}>
          {lines.map((line, i) => (
            <Line key={i} line={line} />
          ))}
        </ol>
      ))}
    </div>
  );
}

/**
 * Compares two texts line by line, with three lines around what changes. A line begins with a space, `+` or `-`. Returns
 * null if too many lines differ or it takes too long.
 */
export function diffLines(
  before: string,
  after: string,
): readonly Pick<StructuredPatchHunk, 'oldStart' | 'lines'>[] | null {
  const limits = { timeout: maxDiffMs, maxEditLength: maxChangedLines };
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, ...limits });
  if (patch === undefined) return null;
  // The only other line says that there is no line end at the end of the file.
  return patch.hunks.map(({ oldStart, lines }) => {
    return { oldStart, lines: lines.filter((line) => !line.startsWith('\\')) };
  });
}

/** The time grows with the square of the lines that differ, and blocks every other request. */
const maxChangedLines = 800;
const maxDiffMs = 200;

function Line({ line }: { readonly line: string }): VNode {
  const value = line.slice(1).replace(/\r$/, '');
  if (line.startsWith(' ')) return <li>{value}</li>;
  const added = line.startsWith('+');
  return (
    <li class={added ? 'added' : 'removed'}>
      <Changed added={added} value={value} />
    </li>
  );
}

/** What was added or removed, with a word for screen readers. */
function Changed({ added, value }: Pick<Words, 'added' | 'value'>): VNode {
  const { t } = useLanguage();
  const Mark = added ? 'ins' : 'del';
  return (
    <>
      <span class="out-of-sight">{t(added ? 'edit.added' : 'edit.removed')} </span>
      <Mark>{value}</Mark>
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

/** Lower than for lines: a page has many more words, and a proposal several pages. */
const maxChangedWords = 400;
const maxWordsMs = 20;

/** The words of a text that change, as those of `FileDiff` are marked, with a few words around them. */
export function WordDiff({ words }: { readonly words: readonly Words[] }): VNode {
  const parts = words.map(({ value, added, removed }, i) => {
    if (!added && !removed) return value.replace(unchangedMiddle, '$1 … $2');
    return <Changed key={i} added={added} value={value} />;
  });
  return <>{parts}</>;
}

/** What is far from any change, in a part of a text that stays. */
const unchangedMiddle = /^(.{200})(?:.{100,})(.{200})$/su;
