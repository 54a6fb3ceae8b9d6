import { structuredPatch, type StructuredPatchHunk } from 'diff';
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
 * null where too many lines differ or it takes too long.
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
  const { t } = useLanguage();
  const text = line.slice(1).replace(/\r$/, '');
  if (line.startsWith(' ')) return <li>{text}</li>;
  const isAdded = line.startsWith('+');
  return (
    <li class={isAdded ? 'added' : 'removed'}>
      <span class="out-of-sight">{t(isAdded ? 'edit.added' : 'edit.removed')} </span>
      {isAdded ? <ins>{text}</ins> : <del>{text}</del>}
    </li>
  );
}
