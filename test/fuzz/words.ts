import { readSchema, type SchemaName } from '../../src/bot/schemas.ts';

/** The parts of JSON, and common mistakes in it. */
export const jsonWords = split(
  '{ } [ ] : , " "a": {"": \\" \\u0061 \\ud800 "__proto__": "constructor": {"__proto__":{"x":1}} null true false 1.5e3 -0 // /**/ \' \u00a0',
);

/** The keys and the allowed values of schemas, as JSON. */
export function schemaWords(...names: readonly SchemaName[]): string[] {
  const texts = names.map((name) => JSON.stringify(readSchema(name)));
  const words = texts.flatMap((text) => text.match(/"[^"\\ ]{1,40}"/g) ?? []);
  return [...new Set(words)].flatMap((word) => [word, `,${word}:`]);
}

/** The words of a text. */
export function split(text: string): string[] {
  return text.split(' ');
}
