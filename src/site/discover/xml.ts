import { escapeXml } from '../../lib/text.ts';

/** Text or an element, escaped and ready to insert. */
export type Xml = string;

/** Formats a whole document. */
export function formatXmlDocument(root: Xml): Buffer {
  return Buffer.from(`${xmlDeclaration}${root}\n`);
}

export const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Formats an element. Escapes attributes, but not the content. */
export function formatElement(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...content: readonly Xml[]
): Xml {
  const start = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  return content.length === 0
    ? `<${name}${start.join('')}/>`
    : `<${name}${start.join('')}>${content.join('')}</${name}>`;
}

/** Formats an element with a text. Removes the soft hyphens of the interface. */
export function formatTextElement(
  name: string,
  text: string,
  attributes: Readonly<Record<string, string>> = {},
): Xml {
  return formatElement(name, attributes, escapeXml(text.replaceAll('\u00ad', '')));
}
