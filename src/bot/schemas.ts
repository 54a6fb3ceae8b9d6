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

/** What a schema says of each key of an object: the schema itself, or the definition that it refers to. */
export function propertiesOf(schema: SchemaDocument): Readonly<Record<string, SchemaDocument>> {
  const reference = /#\/\$defs\/(\w+)$/.exec(String(schema['$ref']))?.[1];
  definitions ??= readSchema('definitions')['$defs'] as Readonly<Record<string, SchemaDocument>>;
  const target = reference === undefined ? schema : (definitions[reference] ?? {});
  return (target['properties'] ?? {}) as Readonly<Record<string, SchemaDocument>>;
}

let definitions: Readonly<Record<string, SchemaDocument>> | undefined;
