import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The schemas in `schemas/`, the single source of every rule on a bot's shape, by file name. */
export const schemaNames = [
  'main-page',
  'translation',
  'record',
  'list-element',
  'file-item',
  'update',
  'update-answer',
  'problem',
] as const;

export type SchemaName = (typeof schemaNames)[number];

/** A JSON Schema document, as plain data. */
export type SchemaDocument = Readonly<Record<string, unknown>>;

/** The absolute path of a schema's file. */
export function schemaPath(name: SchemaName | 'definitions'): string {
  return fileURLToPath(import.meta.resolve(`#schemas/${name}`));
}

/** Reads a schema's file. */
export function readSchema(name: SchemaName | 'definitions'): SchemaDocument {
  return JSON.parse(readFileSync(schemaPath(name), 'utf8')) as SchemaDocument;
}
