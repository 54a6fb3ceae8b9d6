import type { VNode } from 'preact';

export interface AvatarProps {
  readonly id: string;
  readonly name: string;
  /** The path of our copy; null where there is none. */
  readonly picture: string | null;
  /** Edge in CSS pixels. */
  readonly size: number;
  readonly veiled: boolean;
}

/** A bot's picture, or its initial on a colour of its own. It says nothing that the name beside it does not. */
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

/** As many as the stylesheet has. */
const tints = 8;

function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.replace(/^[^\p{L}\p{N}]+/u, '') || name);
  return first?.segment.toUpperCase() ?? '';
}
