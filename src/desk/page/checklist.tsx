import type { VNode } from 'preact';
import { useLanguage } from '../../site/page/page-context.tsx';

interface ChecklistProps {
  /** The possible parts of a listing, each with whether it is there, and the public path or anchor at which to add it. */
  readonly items: readonly {
    readonly name: 'avatar' | 'cover' | 'preview' | 'page' | 'language' | 'count';
    readonly isDone: boolean;
    readonly href: string;
  }[];
}

/** The parts that a listing has and those that are missing, each with a link to the place at which to add it. */
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
