import { readSchema, type SchemaDocument, schemaNames } from '../../bot/schemas.ts';
import type { Category } from '../../bot/schema-types.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Returns a reference to a schema of the document. */
export function createReference(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns the schemas that the paths refer to, those of files by their titles and shared definitions by their names. */
export function createComponents(paths: Json, categories: readonly Category[]): Record<string, Json> {
  const all: Record<string, Json> = {};
  for (const name of schemaNames) {
    const { $schema: _schema, $id: _id, ...schema } = readSchema(name);
    all[titleOf(readSchema(name))] = rewriteReferences(schema as Json, titleOf(readSchema(name)));
  }
  const { $defs } = readSchema('definitions', categories) as { $defs: Record<string, Json> };
  for (const [name, schema] of Object.entries($defs)) all[name] = rewriteReferences(schema, '');
  const used = new Set<string>();
  const add = (value: Json): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      add(all[name] ?? null);
    }
  };
  add([paths, createReference('Problem')]);
  return Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)));
}

function titleOf(schema: SchemaDocument): string {
  return String(schema['title']);
}

/**
 * Turns references between files into references between components, and drops our own keywords.
 * @param own the title of the schema that the value is from
 */
export function rewriteReferences(value: Json, own: string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => rewriteReferences(item, own));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Readonly<Record<string, Json>>).filter(
    ([key]) => key !== 'x-advice' && key !== 'x-category',
  );
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? toComponentReference(inner, own)
        : rewriteReferences(inner, own),
    ]),
  );
}

function toComponentReference(reference: string, own: string): string {
  const [file = '', pointer = ''] = reference.split('#');
  if (file === 'definitions.schema.json') return `#/components/schemas${pointer.replace('/$defs', '')}`;
  const title = file === '' ? own : titleOf(readSchema(file.replace('.schema.json', '') as 'record'));
  return `#/components/schemas/${title}${pointer}`;
}
