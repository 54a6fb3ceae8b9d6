import type { VNode } from 'preact';

/** The sign of a verified bot. @param props.label what screen readers say; left out where the sign is in a link with a label */
export function CheckMark({ size, label }: { readonly size: number; readonly label?: string }): VNode {
  const role =
    label === undefined ? { 'aria-hidden': true } : ({ role: 'img', 'aria-label': label } as const);
  return (
    <svg class="check-mark" width={size} height={size} viewBox="0 0 16 16" {...role}>
      <circle cx="8" cy="8" r="8" fill="currentColor" />
      <path d="m4.5 8.3 2.4 2.4 4.6-5" fill="none" stroke="var(--surface)" stroke-width="1.8" />
    </svg>
  );
}
