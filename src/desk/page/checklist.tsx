import type { VNode } from 'preact';
import { useLanguage } from '../../site/page/page-context.tsx';

interface ChecklistProps {
  /** What a listing can have, each with whether it has it, and the public path or the anchor where it is added. */
  readonly items: readonly {
    readonly name: 'avatar' | 'cover' | 'preview' | 'page' | 'language' | 'count';
    readonly isDone: boolean;
    readonly href: string;
  }[];
}

/** What a listing has and what it lacks, each with a link to the place where it is added. */
export function Checklist({ items }: ChecklistProps): VNode {
  const { t } = useLanguage();
  return (
    <div class="checklist">
      <p>{t(items.every(({ isDone }) => isDone) ? 'checklist.complete' : 'checklist.title')}</p>
      <ul>
        {items.map(({ name, isDone, href }) => {
          const label = t(name === 'language' || name === 'count' ? `checklist.${name}` : `field.${name}`);
          return (
            <li key={name} class={isDone ? 'done' : undefined}>
              {isDone ? `✓ ` : '– '}
              {isDone ? label : <a href={href}>{label}</a>}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
