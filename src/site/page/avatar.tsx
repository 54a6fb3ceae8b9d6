import type { VNode } from 'preact';

export interface AvatarProps {
  readonly id: string;
  readonly name: string;
  /** The path of the cached copy; null where there is none. */
  readonly picture: string | null;
  /** Edge in CSS pixels. */
  readonly size: number;
  readonly veiled: boolean;
}

/** A bot's picture, or its initial on a coloured background. Hidden from screen readers, as the name is beside it. */
export function Avatar({ id, name, picture, size, veiled }: AvatarProps): VNode {
  if (picture === null) {
    return (
      <span class={`avatar tint-${Number(id.slice(-4)) % tints}`} aria-hidden="true">
        {initialOf(name)}
      </span>
    );
  }
  return (
    <span class="avatar">
      <img class={veiled ? 'veiled' : undefined} src={picture} alt="" width={size} height={size} />
    </span>
  );
}

/** The number of colours in the stylesheet. */
const tints = 8;

function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.replace(/^[^\p{L}\p{N}]+/u, '') || name);
  return first?.segment.toUpperCase() ?? '';
}
