import type { Command } from '../../../schemas/types.ts';
import { readSchema, type SchemaDocument } from '../../bot/schemas.ts';

/** Levels of JSON with commands: in a response of Discord's API, the choices of a subcommand's option have names at 11. */
export const maxCommandDepth = 16;

/**
 * Returns commands, as Discord's API has them, with the keys that the list keeps, in the order of the schema. What says
 * nothing is left out. The result may break the schema, as what is given may.
 */
export function pickCommands(commands: readonly unknown[]): unknown[] {
  return commands.map((command) => pick(command, definitions['command'] ?? {}));
}

/** Returns the text of the file that has these commands: the same one whatever their order. */
export function printCommands(commands: readonly Command[]): string {
  const sorted = commands.toSorted(
    (a, b) => (a.type ?? 1) - (b.type ?? 1) || Number(a.name > b.name) - Number(a.name < b.name),
  );
  return `${JSON.stringify({ commands: sorted }, null, 2)}\n`;
}

const definitions = readSchema('definitions')['$defs'] as Readonly<Record<string, SchemaDocument>>;

function pick(value: unknown, schema: SchemaDocument): unknown {
  const { items, properties } = resolve(schema);
  if (Array.isArray(value)) return items ? value.map((item) => pick(item, items)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const values = value as Readonly<Record<string, unknown>>;
  // Texts by language have keys that the schema does not name.
  const keys = Object.keys(properties ?? values);
  if (properties === undefined) keys.sort();
  const entries = keys.map((key) => [key, pick(values[key], properties?.[key] ?? {})] as const);
  return Object.fromEntries(
    entries.filter(([key, inner]) => !isEmpty(inner) && inner !== properties?.[key]?.['default']),
  );
}

function resolve(schema: SchemaDocument): {
  readonly items?: SchemaDocument;
  readonly properties?: Readonly<Record<string, SchemaDocument>>;
} {
  const [, name = ''] = /#\/\$defs\/(\w+)$/.exec(String(schema['$ref'])) ?? [];
  return definitions[name] ?? schema;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '';
}
