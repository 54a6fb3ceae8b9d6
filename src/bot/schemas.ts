import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Category } from '../../schemas/types.ts';
import type { KeyOrder } from '../lib/json.ts';

/** The schemas, the single source of every rule on a bot's shape: files in `schemas/`, and what is derived from them. */
export const schemaNames = [
  'main-page',
  'translation',
  'record',
  'list-element',
  'file-item',
  'change-record',
  'catalogue-changes',
  'update',
  'update-answer',
  'author',
  'problem',
  'settings',
  'blocked',
  'profile',
  'collection',
  'commands',
  'sent-page',
  'import-map',
] as const;

export type SchemaName = (typeof schemaNames)[number];

/** A JSON Schema document as plain data. */
export type SchemaDocument = Readonly<Record<string, unknown>>;

/** Returns the absolute path of a schema's file. `list-element` has none: it is derived from the record's. */
export function toSchemaPath(name: Exclude<SchemaName, 'list-element'> | 'definitions'): string {
  return fileURLToPath(import.meta.resolve(`#schemas/${name}`));
}

/**
 * Returns a schema.
 * @param categories those that a bot can have; any id if left out
 */
export function readSchema(
  name: SchemaName | 'definitions',
  categories?: readonly Category[] | null,
): SchemaDocument {
  if (name === 'list-element') return listElementSchema();
  const schema = JSON.parse(readFileSync(toSchemaPath(name), 'utf8')) as SchemaDocument;
  if (name !== 'definitions' || !categories) return schema;
  const definitions = schema['$defs'] as { readonly category: object };
  return { ...schema, $defs: { ...definitions, category: { ...definitions.category, enum: categories } } };
}

/** The default categories, for a catalogue whose settings name none. Those that most people need come first. */
export const defaultCategories: readonly Category[] = [
  'moderation',
  'utility',
  'music',
  'games',
  'fun',
  'notifications',
  'image',
  'productivity',
  'news',
  'education',
  'entertainment',
  'other',
];

/** Returns the definition that a schema refers to, or else the schema itself. */
export function resolveSchema(schema: SchemaDocument): SchemaDocument {
  const [, name = ''] = /#\/\$defs\/(\w+)$/.exec(String(schema['$ref'])) ?? [];
  definitions ??= readSchema('definitions')['$defs'] as Readonly<Record<string, SchemaDocument>>;
  return definitions[name] ?? schema;
}

/** Returns the schemas of an object's keys, from the object's schema or the definition that it refers to. */
export function resolveProperties(schema: SchemaDocument): Readonly<Record<string, SchemaDocument>> {
  return (resolveSchema(schema)['properties'] ?? {}) as Readonly<Record<string, SchemaDocument>>;
}

/** Returns the keys of an object in the order of its schema, each with those of its value. */
export function readKeyOrder(schema: SchemaDocument): KeyOrder {
  return new Map(Object.entries(resolveProperties(schema)).map(([key, value]) => [key, readKeyOrder(value)]));
}

/** The record's schema without the pages in `contents`; every other key refers to the record's. */
function listElementSchema(): SchemaDocument {
  const record = readSchema('record');
  const keys = Object.keys(resolveProperties(record));
  const properties = Object.fromEntries(
    keys.map((key) => [key, { $ref: `record.schema.json#/properties/${key}` }]),
  );
  const contents = resolveProperties(record)['contents'] ?? {};
  const content = contents['additionalProperties'] as SchemaDocument;
  const { page: _page, ...texts } = resolveProperties(content);
  return {
    $schema: record['$schema'],
    $id: 'list-element.schema.json',
    title: 'BotListElement',
    description: 'A bot without its pages: one element of GET /api/v2/bots.',
    type: 'object',
    additionalProperties: false,
    required: record['required'],
    properties: {
      ...properties,
      contents: {
        ...contents,
        additionalProperties: { ...content, required: Object.keys(texts), properties: texts },
      },
    },
  };
}

let definitions: Readonly<Record<string, SchemaDocument>> | undefined;
