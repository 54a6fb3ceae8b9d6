import type { PageData } from './page.ts';
import { resolveProperties, readSchema, type SchemaDocument } from '../../bot/schemas.ts';

/** Returns a copy of a main page's front matter with the schema's defaults for missing keys. */
export function withDefaults(data: PageData): Record<string, unknown> {
  return fillDefaults(data, mainPageDefaults);
}

/** Key → its default, and the defaults within that object. */
type Defaults = ReadonlyMap<string, { readonly value: unknown; readonly within: Defaults }>;

const mainPageDefaults = readDefaults(readSchema('main-page'));

function readDefaults(schema: SchemaDocument): Defaults {
  const keys = Object.entries(resolveProperties(schema)).filter(([, property]) => 'default' in property);
  return new Map(
    keys.map(([key, property]) => [key, { value: property['default'], within: readDefaults(property) }]),
  );
}

function fillDefaults(data: PageData, defaults: Defaults): Record<string, unknown> {
  const all: Record<string, unknown> = { ...data };
  for (const [key, { value, within }] of defaults) {
    if (all[key] === undefined) all[key] = structuredClone(value);
    if (within.size > 0) all[key] = fillDefaults(all[key] as PageData, within);
  }
  return all;
}
