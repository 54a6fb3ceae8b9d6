import { strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { anyCharacter } from '../../support/arbitrary.ts';
import { escapeXml } from '../../../src/lib/text.ts';
import { formatElement, formatTextElement, formatXmlDocument } from '../../../src/site/discover/xml.ts';
import { parseXml, textsOf } from '../../support/xml.ts';

const special = [...'&<>]"\'\n\r\t\0\u0085\u00AD\uFFFE'.split(''), '\uD800', '\u{1F600}'];

/** Removes the characters that XML cannot represent, one by one. */
function writable(text: string): string {
  return Array.from(text)
    .filter((character) => {
      const code = character.codePointAt(0) ?? 0;
      const isControl = code < 0x20 && !['\t', '\n', '\r'].includes(character);
      return !isControl && !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfffe && code !== 0xffff;
    })
    .join('');
}

describe('XML', () => {
  it('is read back by a strict parser as it was, without what XML has no way to write', () => {
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string({ unit: fc.constantFrom(...special) }),
    );
    fc.assert(
      fc.property(text, (text) => {
        const root = parseXml(
          formatXmlDocument(formatElement('a', { b: text }, formatTextElement('c', text))).toString(),
        );
        strictEqual(root.attributes['b'], writable(text));
        strictEqual(textsOf(root, 'c')[0], writable(text).replaceAll('\u00AD', ''), 'without soft hyphens');
      }),
    );
  });

  it('has no character in a text that would end it', () => {
    strictEqual(escapeXml(']]>&"<a>\u0000\uD800\u{1F600}'), ']]&#62;&#38;&#34;&#60;a&#62;\u{1F600}');
  });
});
