/** Escapes a text or the value of an attribute. Removes the characters that XML has no way to write. */
export function escapeXml(text: string): string {
  return text.replace(forbidden, '').replace(/[&<>"\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** With the flag `u`, half of a surrogate pair is a character of its own. */
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
