import { Ajv2020, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { parseLocale } from '../../bot/locale.ts';
import { mostFaults, quoted } from './fault.ts';
import {
  propertiesOf,
  readSchema,
  type SchemaDocument,
  type SchemaName,
  schemaNames,
} from '../../bot/schemas.ts';

/** A rule of a schema that a value breaks. */
export interface SchemaFault {
  /** The keys and indices that lead to the faulty part of the value, or to the unknown key. */
  readonly place: readonly (string | number)[];
  /** The schema's keyword: `required`, `type`, `enum` … */
  readonly keyword: string;
  /** What is wrong, a colon, and the fix. */
  readonly message: string;
}

/** Validates a value and never changes it. Returns all faults at once, up to a hundred; none when the value is valid. */
export function validate(schema: SchemaName | 'page', value: unknown): SchemaFault[] {
  const check = checkOf(schema);
  if (check(value)) return [];
  const errors = (check.errors ?? []).slice(0, mostFaults);
  return errors
    .filter((error) => !isShadowed(error, errors))
    .map((error) => ({
      place: placeOf(error),
      keyword: error.keyword,
      message: messageOf(error, errors),
    }));
}

/** Returns a copy of a main page's front matter with the schema's defaults for missing keys. */
export function withDefaults(data: Data): Record<string, unknown> {
  return filled(data, mainPageDefaults);
}

type Data = Readonly<Record<string, unknown>>;

/** Key → its default, and the defaults within that object. */
type Defaults = ReadonlyMap<string, { readonly value: unknown; readonly within: Defaults }>;

const mainPageDefaults = defaultsOf(readSchema('main-page'));

function defaultsOf(schema: SchemaDocument): Defaults {
  const keys = Object.entries(propertiesOf(schema)).filter(([, property]) => 'default' in property);
  return new Map(
    keys.map(([key, property]) => [key, { value: property['default'], within: defaultsOf(property) }]),
  );
}

function filled(data: Data, defaults: Defaults): Record<string, unknown> {
  const all: Record<string, unknown> = { ...data };
  for (const [key, { value, within }] of defaults) {
    if (all[key] === undefined) all[key] = structuredClone(value);
    if (within.size > 0) all[key] = filled(all[key] as Data, within);
  }
  return all;
}

const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  strict: true,
  strictTypes: false,
  // A required key may be defined where $ref leads.
  strictRequired: false,
  keywords: ['x-advice'],
  formats: {
    uri: (text: string) => URL.canParse(text),
    'uri-reference': (text: string) => URL.canParse(text, 'https://localhost/'),
    locale: (text: string) => typeof parseLocale(text) === 'string',
  },
});

// ajv's own compares each entry with every other: seconds for a list as long as a file can hold.
ajv.removeKeyword('uniqueItems').addKeyword({
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: uniqueItems,
});

for (const name of schemaNames) ajv.addSchema(readSchema(name));
ajv.addSchema(readSchema('definitions'));

const checks = new Map<SchemaName | 'page', ValidateFunction>();

/** Compiles a schema on first use: compiling all of them would slow down short commands. */
function checkOf(schema: SchemaName | 'page'): ValidateFunction {
  const known = checks.get(schema);
  if (known !== undefined) return known;
  const key = schema === 'page' ? 'definitions.schema.json#/$defs/page' : `${schema}.schema.json`;
  const check = ajv.getSchema(key);
  if (check === undefined) throw new Error(`no schema is called ${key}`);
  checks.set(schema, check);
  return check;
}

/** Whether the entries of a list are distinct; reports each that is not. */
function uniqueItems(wanted: boolean, list: readonly unknown[]): boolean {
  const entries = list.map((entry) => JSON.stringify(entry));
  const first = new Map(entries.map((entry, i) => [entry, i] as const).toReversed());
  const errors = entries.flatMap((entry, i) =>
    first.get(entry) === i ? [] : [{ keyword: 'uniqueItems', params: { i } }],
  );
  Object.assign(uniqueItems, { errors });
  return !wanted || errors.length === 0;
}

/** "A text or null" is written as anyOf, which has several errors; only the helpful one is kept. */
function isShadowed(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  if (error.keyword === 'anyOf') return true;
  if (error.keyword === 'type' && error.params['type'] === 'null') return true;
  // For a value of the wrong length the pattern is not worth a message.
  if (!['pattern', 'format'].includes(error.keyword)) return false;
  return errors.some(
    (other) =>
      other !== error &&
      other.instancePath === error.instancePath &&
      (['minLength', 'maxLength'].includes(other.keyword) ||
        (other.keyword === 'pattern' && error.keyword === 'format')),
  );
}

function placeOf({ instancePath, params, keyword, data }: ErrorObject): (string | number)[] {
  const place: (string | number)[] = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  if (keyword === 'additionalProperties') place.push(String(params['additionalProperty']));
  if (keyword === 'uniqueItems' && Array.isArray(data)) place.push(Number(params['i']));
  return place;
}

function messageOf(error: ErrorObject, errors: readonly ErrorObject[]): string {
  const { keyword, params, data, parentSchema = {} } = error;
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'required':
      return missing(String(params['missingProperty']), parentSchema);
    case 'additionalProperties':
      return unknownKey(String(params['additionalProperty']), Object.keys(parentSchema['properties'] ?? {}));
    case 'type': {
      const orNull = errors.some(
        (other) => other.keyword === 'anyOf' && other.instancePath === error.instancePath,
      );
      return `this is ${kindOf(data)}: write ${aKind(String(params['type']))}${orNull ? ' or null' : ''}`;
    }
    case 'enum':
      return `${quoted(data)} is not an allowed value: choose ${listed(params['allowedValues'])}`;
    case 'pattern':
    case 'format':
      return `${quoted(data)} is not allowed: ${parentSchema['x-advice'] ?? 'see the schema'}`;
    case 'minLength':
      return `the text is empty: write ${limit} to ${parentSchema['maxLength']} characters`;
    case 'maxLength':
      return `the text has ${Array.from(String(data)).length} characters: shorten it to at most ${limit}`;
    case 'minItems':
      return `the list is too short: write at least ${limit}`;
    case 'maxItems':
      return `the list has ${Array.isArray(data) ? data.length : 0} entries: keep at most ${limit}`;
    case 'uniqueItems':
      return `this entry is in the list twice: keep one`;
    case 'minimum':
      return `${quoted(data)} is too small: write at least ${limit}`;
    case 'maximum':
      return `${quoted(data)} is too large: write at most ${limit}`;
    case 'exclusiveMaximum':
      return `${quoted(data)} is too large: write less than ${limit}`;
    case 'minProperties':
      return `the object is empty: write at least one of ${listed(Object.keys(parentSchema['properties'] ?? {}))}`;
    default:
      return `${error.message ?? keyword}: see the schema`;
  }
}

function missing(key: string, { properties = {} }: AnySchemaObject): string {
  const description: unknown = properties[key]?.description;
  return `"${key}" is missing: add it${typeof description === 'string' ? ` (${description.replace(/\.$/, '')})` : ''}`;
}

function unknownKey(key: string, known: readonly string[]): string {
  const near = known.find((candidate) => isNear(key, candidate));
  if (near !== undefined) return `${quoted(key)} is not a key: write "${near}"`;
  return `${quoted(key)} is not a key here: remove it; the keys are ${listed(known)}`;
}

/** Whether two keys differ only in case, punctuation, one letter, or two letters that are swapped. */
function isNear(a: string, b: string): boolean {
  const [x, y] = [a, b].map((text) => text.toLowerCase().replace(/[^a-z]/g, '')) as [string, string];
  if (x === y) return true;
  let start = 0;
  while (start < x.length && x[start] === y[start]) start++;
  const rests = [
    x.slice(start + 1) === y.slice(start + 1),
    x.slice(start + 1) === y.slice(start),
    x.slice(start) === y.slice(start + 1),
    x[start] === y[start + 1] && x[start + 1] === y[start] && x.slice(start + 2) === y.slice(start + 2),
  ];
  return x.length > 3 && rests.includes(true);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number')
    return Number.isInteger(value) ? `the number ${value}` : `the fraction ${value}`;
  if (typeof value === 'string') return `the text ${quoted(value)}`;
  return typeof value === 'boolean' ? String(value) : 'an object';
}

function aKind(type: string): string {
  const kinds: Readonly<Record<string, string>> = {
    string: 'a text in quotes',
    integer: 'a whole number, without quotes',
    number: 'a number, without quotes',
    boolean: 'true or false, without quotes',
    array: 'a list in [ ]',
    object: 'an object in { }',
  };
  return kinds[type] ?? type;
}

function listed(values: unknown): string {
  const items = Array.isArray(values) ? values.map(String) : [];
  return items.length > 1 ? `${items.slice(0, -1).join(', ')} or ${items.at(-1)}` : (items[0] ?? 'none');
}
