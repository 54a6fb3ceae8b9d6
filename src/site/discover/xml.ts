/** Text or an element, ready to be part of a document. */
export type Xml = string;

/** Prints a whole document. */
export function formatXmlDocument(root: Xml): Buffer {
  return Buffer.from(`${xmlDeclaration}${root}\n`);
}

export const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Prints an element. Attributes are escaped, the content is not. */
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

/** Prints an element that has a text. */
export function formatTextElement(
  name: string,
  text: string,
  attributes: Readonly<Record<string, string>> = {},
): Xml {
  return formatElement(name, attributes, escapeXml(text));
}

/** Escapes a text or the value of an attribute. Removes the characters that XML has no way to write. */
export function escapeXml(text: string): Xml {
  return text.replace(forbidden, '').replace(/[&<>"\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** With the flag `u`, half of a surrogate pair is a character of its own. */
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
