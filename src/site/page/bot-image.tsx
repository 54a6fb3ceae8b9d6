import type { VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import { type VariantWidth, toVariantPath } from '../../images/store.ts';

export interface BotImageProps {
  /** The path of the full copy. */
  readonly path: string;
  readonly alt: string;
  /** The size in CSS pixels, so that nothing moves when it loads. */
  readonly width: number;
  readonly height: number;
  /** The width in pixels of the smaller copy. */
  readonly small: VariantWidth;
  /** How wide it is shown, as in the `sizes` attribute, where the full copy may be needed; it is `full` pixels wide. */
  readonly larger?: { readonly sizes: string; readonly full: number };
  /** Whether it is below the fold: it loads when it is about to be seen. */
  readonly lazy: boolean;
  readonly blurred: boolean;
}

/** An image of the cache: its smaller copy or, where the screen needs it, the full one. */
export function BotImage(props: BotImageProps): VNode {
  const { path, alt, width, height, small, larger, lazy, blurred } = props;
  const src = toVariantPath(path, small);
  return (
    <img
      class={blurred ? 'veiled' : undefined}
      src={src}
      srcset={larger && `${src} ${small}w, ${path} ${larger.full}w`}
      sizes={larger?.sizes}
      alt={alt}
      width={width}
      height={height}
      loading={lazy ? 'lazy' : undefined}
    />
  );
}

/** Returns the class that has the colour of a category. */
export function toCategoryClass(category: Category): string {
  return `cat cat-${category}`;
}

export interface AvatarProps {
  readonly id: string;
  /** Whose colour it has without an image. */
  readonly category?: Category;
  readonly name: string;
  /** The path of the cached copy; null if there is none. */
  readonly image: string | null;
  /** Edge in CSS pixels. */
  readonly size: number;
  readonly blurred: boolean;
  /** Whether it is below the fold; not if left out. */
  readonly lazy?: boolean;
}

/** A bot's image, or its initial on a shade of the colour of its category. Hidden from screen readers, because the name is next to it. */
export function Avatar(props: AvatarProps): VNode {
  const { id, category = 'other', name, image, size, blurred, lazy = false } = props;
  if (image === null) {
    return (
      <span class={`avatar ${toCategoryClass(category)} ${tintOf(id)}`} aria-hidden="true">
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

/** Returns the class of a bot's own shade. */
function tintOf(id: string): string {
  return `tint-${Number(id.slice(-4)) % tintCount}`;
}

/** The number of shades in the stylesheet. */
const tintCount = 4;

/** Returns the first letter or digit of a name. */
export function findInitial(name: string): string {
  segmenter ??= new Intl.Segmenter();
  const [first] = segmenter.segment(name.replace(/^[^\p{L}\p{N}]+/u, '') || name);
  return first?.segment.toUpperCase() ?? '';
}

/** Made once, because a page has dozens of names. */
let segmenter: Intl.Segmenter | undefined;
