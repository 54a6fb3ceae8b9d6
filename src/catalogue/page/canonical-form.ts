import { resolveProperties, readSchema, type SchemaDocument } from '../../bot/schemas.ts';
import { type KeyOrder, printJson } from '../../lib/print-json.ts';
import { cutPage } from './page.ts';

/**
 * Returns a page file in the one canonical form: its keys in the order of the schema, two spaces, LF, between
 * two lines `---`. Keys that the schema does not have come last, in their own order. A number keeps its digits, a text
 * its characters, and the markdown every byte; so the form of a canonical file is that file.
 * @throws {Error} when the text is not a page file that can be parsed
 */
export function toCanonicalForm(
  text: string,
  schema: 'main-page' | 'collection' | 'profile' = 'main-page',
): string {
  const { json, after } = cutPage(text);
  return `---\n${printJson(json, keyOrders[schema])}\n${after.replace(/^---\r?\n?/, '---\n')}`;
}

/** Returns a JSON file in canonical form, as toCanonicalForm does. @throws {Error} when it is not JSON */
export function toCanonicalJson(text: string, schema: 'settings' | 'profile'): string {
  return `${printJson(text, keyOrders[schema])}\n`;
}

function readKeyOrder(schema: SchemaDocument): KeyOrder {
  return new Map(Object.entries(resolveProperties(schema)).map(([key, value]) => [key, readKeyOrder(value)]));
}

const keyOrders = {
  'main-page': readKeyOrder(readSchema('main-page')),
  collection: readKeyOrder(readSchema('collection')),
  profile: readKeyOrder(readSchema('profile')),
  settings: readKeyOrder(readSchema('settings')),
};
