import type { VNode } from 'preact';
import { type VariantWidth, toVariantPath } from '../../images/variant-name.ts';

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
