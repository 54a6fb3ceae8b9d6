import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import { type DiffLine, diffLines } from './file-diff.ts';

/** The lines of a file that change, each marked with a sign, a colour and a word for screen readers. */
export function Diff({ before, after }: { readonly before: string; readonly after: string }): VNode {
  const { t, text } = useLanguage();
  const parts = diffLines(before, after);
  if (parts === null) return <p>{t('edit.large')}</p>;
  return (
    <div class="diff" role="group" aria-label={text('edit.change')} tabIndex={0}>
      {parts.map((part) => (
        <ol key={part.start} start={part.start}>
          {part.lines.map((line, i) => (
            <Line key={i} {...line} />
          ))}
        </ol>
      ))}
    </div>
  );
}

function Line({ kind, text }: DiffLine): VNode {
  const { t } = useLanguage();
  if (kind === 'same') return <li>{text}</li>;
  return (
    <li class={kind}>
      <span class="out-of-sight">{t(kind === 'added' ? 'edit.added' : 'edit.removed')} </span>
      {kind === 'added' ? <ins>{text}</ins> : <del>{text}</del>}
    </li>
  );
}
