import type { VNode } from 'preact';
import { BotImage } from './bot-image.tsx';

export interface AvatarProps {
  readonly id: string;
  readonly name: string;
  /** The path of the cached copy; null where there is none. */
  readonly image: string | null;
  /** Edge in CSS pixels. */
  readonly size: number;
  readonly blurred: boolean;
  /** Whether it is below the fold; not where left out. */
  readonly lazy?: boolean;
}

/** A bot's image, or its initial on a coloured background. Hidden from screen readers, as the name is beside it. */
export function Avatar({ id, name, image, size, blurred, lazy = false }: AvatarProps): VNode {
  if (image === null) {
    return (
      <span class={`avatar ${tintOf(id)}`} aria-hidden="true">
        {findInitial(name)}
      </span>
    );
  }
  return (
    <span class="avatar">
      <BotImage
        path={image}
        alt=""
        width={size}
        height={size}
        small={128}
        {...(size > 64 && { larger: { sizes: `${size}px`, full: 512 } })}
        lazy={lazy}
        blurred={blurred}
      />
    </span>
  );
}

/** Returns the class of a bot's own colour. */
function tintOf(id: string): string {
  return `tint-${Number(id.slice(-4)) % tintCount}`;
}

/** The number of colours in the stylesheet. */
const tintCount = 8;

function findInitial(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.replace(/^[^\p{L}\p{N}]+/u, '') || name);
  return first?.segment.toUpperCase() ?? '';
}
