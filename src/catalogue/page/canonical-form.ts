import { propertiesOf, readSchema, type SchemaDocument } from '../../bot/schemas.ts';
import { type KeyOrder, printJson } from '../../lib/print-json.ts';
import { rewriteFrontMatter } from './page.ts';

/**
 * Returns a page file in the one canonical form: its keys in the order of the main page's schema, two spaces, LF.
 * Keys that the schema does not have come last, in their own order. A number keeps its digits, a text its
 * characters, and the markdown every byte; so the form of a canonical file is that file.
 * @throws {Error} when the text is not a page file that can be parsed
 */
export function canonicalForm(text: string): string {
  return rewriteFrontMatter(text, (json) => printJson(json, mainPageOrder));
}

/** Returns the text of a file with settings in canonical form, as canonicalForm does. @throws {Error} when it is not JSON */
export function canonicalSettings(text: string): string {
  return `${printJson(text, orderOf(readSchema('settings')))}\n`;
}

const mainPageOrder = orderOf(readSchema('main-page'));

function orderOf(schema: SchemaDocument): KeyOrder {
  return new Map(Object.entries(propertiesOf(schema)).map(([key, value]) => [key, orderOf(value)]));
}
