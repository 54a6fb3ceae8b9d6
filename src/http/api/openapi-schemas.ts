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
    const title = titleOf(schema);
    all[title] = rewriteReferences(schema, title);
  }
  const { $defs } = readSchema('definitions', categories) as { $defs: Record<string, object> };
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
export function rewriteReferences(value: object, own: string): Json {
  return JSON.parse(JSON.stringify(value), (key, inner: Json) => {
    if (key === 'x-advice' || key === 'x-category') return undefined;
    return key === '$ref' ? toComponentReference(inner as string, own) : inner;
  }) as Json;
}

function toComponentReference(reference: string, own: string): string {
  const [file = '', pointer = ''] = reference.split('#');
  if (file === 'definitions.schema.json') return `#/components/schemas${pointer.replace('/$defs', '')}`;
  const title = file === '' ? own : titleOf(readSchema(file.replace('.schema.json', '') as 'record'));
  return `#/components/schemas/${title}${pointer}`;
}
