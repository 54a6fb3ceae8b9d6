import type { VNode } from 'preact';
import { Picture } from './picture.tsx';

export interface AvatarProps {
  readonly id: string;
  readonly name: string;
  /** The path of the cached copy; null where there is none. */
  readonly picture: string | null;
  /** Edge in CSS pixels. */
  readonly size: number;
  readonly veiled: boolean;
  /** Whether it is below the fold; not where left out. */
  readonly lazy?: boolean;
}

/** A bot's picture, or its initial on a coloured background. Hidden from screen readers, as the name is beside it. */
export function Avatar({ id, name, picture, size, veiled, lazy = false }: AvatarProps): VNode {
  if (picture === null) {
    return (
      <span class={`avatar ${tintOf(id)}`} aria-hidden="true">
        {initialOf(name)}
      </span>
    );
  }
  return (
    <span class="avatar">
      <Picture
        path={picture}
        alt=""
        width={size}
        height={size}
        small={128}
        {...(size > 64 && { larger: { sizes: `${size}px`, full: 512 } })}
        lazy={lazy}
        veiled={veiled}
      />
    </span>
  );
}

/** Returns the class of a bot's own colour. */
function tintOf(id: string): string {
  return `tint-${Number(id.slice(-4)) % tints}`;
}

/** The number of colours in the stylesheet. */
const tints = 8;

function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.replace(/^[^\p{L}\p{N}]+/u, '') || name);
  return first?.segment.toUpperCase() ?? '';
}
