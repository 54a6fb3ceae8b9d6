import type { SchemaDocument } from '../../bot/schemas.ts';
import { findNearestName } from '../../lib/nearest-name.ts';
import { quoteValue } from '../../lib/quote-value.ts';

/** The part of a validator's error that messages need. */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  /** The value itself. */
  readonly data?: unknown;
  /** The key that breaks a rule about keys. */
  readonly propertyName?: string;
  /** The schema that has the keyword. */
  readonly parentSchema?: ParentSchema;
}

interface ParentSchema {
  readonly properties?: Readonly<Record<string, SchemaDocument>>;
  readonly 'x-advice'?: string;
  readonly maxLength?: number;
}

/** Returns what is wrong, a colon, and the fix, for one error among all errors of a value. */
export function describeSchemaError(error: SchemaError, errors: readonly SchemaError[]): string {
  const { keyword, params, data, parentSchema = {} } = error;
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'required':
      return describeMissingKey(String(params['missingProperty']), parentSchema);
    case 'additionalProperties':
      return describeUnknownKey(
        String(params['additionalProperty']),
        Object.keys(parentSchema.properties ?? {}),
      );
    case 'type': {
      const orNull = errors.some(
        (other) => other.keyword === 'anyOf' && other.instancePath === error.instancePath,
      );
      return `this is ${describeValue(data)}: write ${describeType(String(params['type']))}${orNull ? ' or null' : ''}`;
    }
    case 'enum':
      return `${quoteValue(data)} is not an allowed value: choose ${formatList(params['allowedValues'])}`;
    case 'pattern':
    case 'format':
      return `${quoteValue(data)} is not allowed: ${parentSchema['x-advice'] ?? 'see the schema'}`;
    case 'minLength':
      return `the text is empty: write ${limit} to ${parentSchema.maxLength} characters`;
    case 'maxLength':
      return `the text has ${Array.from(String(data)).length} characters: shorten it to at most ${limit}`;
    case 'minItems':
      return `the list is too short: write at least ${limit}`;
    case 'maxItems':
      return `the list has ${Array.isArray(data) ? data.length : 0} entries: keep at most ${limit}`;
    case 'uniqueItems':
      return `this entry is in the list twice: keep one`;
    case 'minimum':
      return `${quoteValue(data)} is too small: write at least ${limit}`;
    case 'maximum':
      return `${quoteValue(data)} is too large: write at most ${limit}`;
    case 'exclusiveMaximum':
      return `${quoteValue(data)} is too large: write less than ${limit}`;
    case 'minProperties':
      return `the object is empty: write at least one of ${formatList(Object.keys(parentSchema.properties ?? {}))}`;
    default:
      return `${error.message ?? keyword}: see the schema`;
  }
}

function describeMissingKey(key: string, { properties = {} }: ParentSchema): string {
  const description = properties[key]?.['description'];
  return `"${key}" is missing: add it${typeof description === 'string' ? ` (${description.replace(/\.$/, '')})` : ''}`;
}

function describeUnknownKey(key: string, known: readonly string[]): string {
  const near = findNearestName(key, known, countAllowedDifferences(key));
  if (near !== undefined) return `${quoteValue(key)} is not a key: write "${near}"`;
  return `${quoteValue(key)} is not a key here: remove it; the keys are ${formatList(known)}`;
}

/** Returns how many letters of a key may be wrong. */
function countAllowedDifferences(key: string): number {
  const { length } = key.replaceAll(/[^A-Za-z]/g, '');
  return length > 5 ? 2 : length > 3 ? 1 : 0;
}

function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that is too large';
  if (typeof value === 'number')
    return Number.isInteger(value) ? `the number ${value}` : `the fraction ${value}`;
  if (typeof value === 'string') return `the text ${quoteValue(value)}`;
  return typeof value === 'boolean' ? String(value) : 'an object';
}

function describeType(type: string): string {
  const kinds: Readonly<Record<string, string>> = {
    string: 'a text in quotes',
    integer: 'a whole number, without quotes',
    number: 'a number, without quotes',
    boolean: 'true or false, without quotes',
    array: 'a list in [ ]',
    object: 'an object in { }',
  };
  return type
    .split(',')
    .map((kind) => kinds[kind] ?? kind)
    .join(' or ');
}

function formatList(values: unknown): string {
  const items = Array.isArray(values) ? values.map(String) : [];
  return items.length > 1 ? `${items.slice(0, -1).join(', ')} or ${items.at(-1)}` : (items[0] ?? 'none');
}
