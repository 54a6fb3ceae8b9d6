import { trimMarkdown } from '../../catalogue/page/page.ts';
import type { AddField, FieldTexts } from './add-fields.ts';

/** A value of the front matter that a field can have. */
export type FieldValue = string | null | boolean | readonly string[];

/** Returns the value of a field by its text. An optional field that is empty is null. */
export function parseValue({ name, kind, required = false }: AddField, texts: FieldTexts): FieldValue {
  const text = texts[name] ?? '';
  switch (kind) {
    case 'switch':
      return texts[name] !== undefined;
    case 'ids':
      return splitWords(text);
    case 'links':
      return splitWords(text).map(toLink);
    case 'lines':
      return splitLines(text);
    case 'page':
      return trimMarkdown(text);
    case 'link':
      return toLink(text.trim()) || (required ? '' : null);
    case 'text':
    case 'category':
    case 'language':
      return text.trim() || (required ? '' : null);
  }
}

/** Returns the text of a field for a value of the front matter; undefined where it has none. */
export function formatValue(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.filter((entry) => typeof entry === 'string').join('\n');
  if (value === true) return 'true';
  return typeof value === 'string' ? value : undefined;
}

/** Returns the texts with `https://` where only that is missing from a link. */
export function withSchemes(fields: readonly AddField[], texts: FieldTexts): FieldTexts {
  const links = fields.flatMap((field) => {
    const value = field.kind === 'link' || field.kind === 'links' ? parseValue(field, texts) : null;
    return value === null ? [] : [[field.name, formatValue(value)] as const];
  });
  return { ...texts, ...Object.fromEntries(links) };
}

/** Adds `https://` to what begins with the name of a host, such as example.org/invite. */
function toLink(text: string): string {
  return /^[^\s/:@.]+(?:\.[^\s/:@.]+)+(?::\d+)?(?:[/?#]|$)/.test(text) ? `https://${text}` : text;
}

/** Splits a text into lines. A space at the end of a line is kept: a prefix may end in one. */
function splitLines(text: string): string[] {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trimStart())
    .filter((line) => line !== '')
    .slice(0, maxEntries);
}

function splitWords(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .slice(0, maxEntries);
}

/** More than any list may have, so the schema still reports that the list is too long. */
const maxEntries = 100;
