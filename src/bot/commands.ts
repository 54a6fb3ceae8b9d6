import type { Command } from '../../schemas/types.ts';
import { readSchema, resolveProperties, resolveSchema, type SchemaDocument } from './schemas.ts';

/** Maximum number of JSON levels in commands. In Discord's API, the names of choices of a subcommand's option are at level 11. */
export const maxCommandDepth = 16;

/**
 * Returns commands of Discord's API with only the keys that the schema has, in its order. Skips keys with empty or
 * default values. The result is as valid as the input.
 */
export function pickCommands(commands: readonly unknown[]): unknown[] {
  return pick(commands, commandList) as unknown[];
}

/** Formats commands as a file; the order of the commands does not matter. */
export function printCommands(commands: readonly Command[]): string {
  const sorted = commands.toSorted(
    (a, b) => (a.type ?? 1) - (b.type ?? 1) || Number(a.name > b.name) - Number(a.name < b.name),
  );
  return `${JSON.stringify({ commands: sorted }, null, 2)}\n`;
}

const commandList = resolveProperties(readSchema('commands'))['commands'] ?? {};

interface CommandSchema {
  readonly items?: SchemaDocument;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, SchemaDocument>>;
}

function pick(value: unknown, schema: SchemaDocument): unknown {
  const { items, maxItems = Infinity, properties }: CommandSchema = resolveSchema(schema);
  // Entries above the maximum stay as they are: validation only checks the length then.
  if (Array.isArray(value))
    return items ? value.map((item, i) => (i < maxItems ? pick(item, items) : item)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const values = value as Readonly<Record<string, unknown>>;
  // Objects of texts by language have keys that are not in the schema.
  const keys = Object.keys(properties ?? values);
  if (properties === undefined) keys.sort();
  const entries = keys.map((key) => [key, pick(values[key], properties?.[key] ?? {})] as const);
  return Object.fromEntries(
    entries.filter(([key, inner]) => !isEmpty(inner) && inner !== properties?.[key]?.['default']),
  );
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '';
}
