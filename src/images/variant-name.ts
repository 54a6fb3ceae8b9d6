/** The widths of the smaller copies, in pixels: 128 for avatars, 320 for screenshots. */
const variantWidths = [128, 320] as const;
export type VariantWidth = (typeof variantWidths)[number];

/** Returns the path of a smaller copy. @param path a path of `cachedImages`, such as `/appdata/<digest>.webp` */
export function toVariantPath(path: string, width: VariantWidth): string {
  return path.replace(/\.webp$/, `.${width}.webp`);
}

/** Parses `<digest>`, the name of a full copy, or `<digest>.<width>`; undefined where it is neither. */
export function parseImageName(
  name: string,
): { readonly digest: string; readonly width: VariantWidth | undefined } | undefined {
  const [, digest, digits] = /^([0-9a-f]{64})(?:\.(\d+))?$/.exec(name) ?? [];
  const width = variantWidths.find((known) => String(known) === digits);
  if (digest === undefined || (digits !== undefined && width === undefined)) return undefined;
  return { digest, width };
}
