import {
  _,
  Ajv2020,
  type AnySchemaObject,
  type ErrorObject,
  type KeywordCxt,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import { Type } from 'ajv/dist/compile/util.js';
import type { Category } from '../../schemas/types.ts';
import { parseUrl } from '../lib/network.ts';
import { countCharacters, findNearestName, quoteValue } from '../lib/text.ts';
import { toAsciiAddress } from './address.ts';
import { parseLocale } from './locale.ts';
import { readSchema, type SchemaDocument, type SchemaName, schemaNames } from './schemas.ts';

/** Maximum number of faults of one kind that are reported per file. */
export const maxFaults = 100;

/** A rule of a schema that a value breaks. */
interface SchemaFault {
  /** The keys and indices to the faulty part of the value, or to the unknown key. */
  readonly place: readonly (string | number)[];
  /** The schema's keyword: `required`, `type`, `enum` … */
  readonly keyword: string;
  /** Whether the key is at fault, not its value. */
  readonly atKey: boolean;
  /** The problem, a colon, and the fix. */
  readonly message: string;
}

/**
 * Validates a value without changing it. Returns at most a hundred faults; none for a valid value.
 * @param categories the categories that a bot can have; null for any
 * @param former the previous value: addresses that are new must be in ASCII. Left out, any address may have other letters
 */
export function validate(
  schema: SchemaName | 'page',
  value: unknown,
  categories: readonly Category[] | null = null,
  former?: unknown,
): SchemaFault[] {
  const check = compileSchema(schema);
  const context: Context = { categories, known: former === undefined ? null : JSON.stringify(former) };
  if (check.call(context, value)) return [];
  const errors: readonly SchemaError[] = (check.errors ?? []).slice(0, maxFaults);
  return errors
    .filter((error) => !isShadowed(error, errors))
    .map((error) => ({
      place: toErrorPlace(error, value),
      keyword: error.keyword,
      atKey: error.keyword === 'additionalProperties' || error.propertyName !== undefined,
      message: describeSchemaError(error, errors),
    }));
}

/** Formats the beginning of a message about a value, such as `images.preview[3]: `. */
export function formatPlace(place: readonly (string | number)[]): string {
  const name = place.reduce<string>((path, part) => {
    if (typeof part === 'number') return `${path}[${part}]`;
    const key = /^[\w-]{1,40}$/.test(part) ? part : quoteValue(part);
    return path === '' ? key : `${path}.${key}`;
  }, '');
  return name === '' ? '' : `${name}: `;
}

/** An error of ajv: `data` is the value with the error, `propertyName` the key if it breaks a rule about keys. */
type SchemaError = ErrorObject<string, Readonly<Record<string, unknown>>>;

/** The schema that has the keyword. */
interface ParentSchema {
  readonly properties?: Readonly<Record<string, SchemaDocument>>;
  readonly 'x-advice'?: string;
  readonly maxLength?: number;
}

/** Describes one error of a value as the problem, a colon, and the fix. @param errors all errors of the value */
function describeSchemaError(error: SchemaError, errors: readonly SchemaError[]): string {
  const { keyword, params, data } = error;
  const parentSchema = (error.parentSchema ?? {}) as ParentSchema;
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
    case 'address':
      return `${quoteValue(data)} has characters that addresses cannot have: write ${JSON.stringify(params['address'])}`;
    case 'minLength':
      return `the text is empty: write ${limit} to ${parentSchema.maxLength} characters`;
    case 'maxLength':
      return `the text has ${countCharacters(String(data))} characters: shorten it to at most ${limit}`;
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

const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  strict: true,
  // A test validates the schemas, because doing it here would add 50 ms to each start.
  meta: false,
  validateSchema: false,
  strictTypes: false,
  // A required key may be defined in the schema that `$ref` names.
  strictRequired: false,
  keywords: ['x-advice'],
  passContext: true,
  formats: {
    uri: (text: string) => parseUrl(text) !== undefined,
    'uri-reference': (text: string) => parseUrl(text, 'https://localhost/') !== undefined,
    // The rules of a number make better messages.
    int64: true,
    locale: (text: string) => typeof parseLocale(text) === 'string',
  },
});

// ajv's own `items` copies all previous errors for each entry that breaks a recursive `$ref`: minutes for the longest
// possible list.
ajv.removeKeyword('items').addKeyword({
  keyword: 'items',
  type: 'array',
  schemaType: 'object',
  before: 'uniqueItems',
  code: checkItems,
});

// ajv's own `propertyNames` checks all keys of a file, even if all are wrong.
ajv.removeKeyword('propertyNames').addKeyword({
  keyword: 'propertyNames',
  type: 'object',
  schemaType: 'object',
  before: 'additionalProperties',
  code: checkNames,
});

// ajv's own `uniqueItems` reports only one entry.
ajv.removeKeyword('uniqueItems').addKeyword({
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: uniqueItems,
});

ajv.addKeyword({ keyword: 'x-category', type: 'string', schemaType: 'boolean', validate: isKnownCategory });
ajv.addKeyword({ keyword: 'x-address', type: 'string', schemaType: 'boolean', validate: isAddress });

for (const name of schemaNames) ajv.addSchema(readSchema(name));
ajv.addSchema(readSchema('definitions'));

/** Returns the check of a schema, compiled on first use: compiling all of them would slow down short commands. */
function compileSchema(schema: SchemaName | 'page'): ValidateFunction {
  const key = schema === 'page' ? 'definitions.schema.json#/$defs/page' : `${schema}.schema.json`;
  const check = ajv.getSchema(key);
  if (check === undefined) throw new Error(`no schema is called ${key}`);
  return check;
}

/** The inputs of a validation besides the schema. */
interface Context {
  readonly categories: readonly Category[] | null;
  /** The previous value as JSON; null if it does not matter. */
  readonly known: string | null;
}

/** Whether a text is one of the categories given to `validate`. Reported like `enum`. */
function isKnownCategory(this: Context, _wanted: boolean, text: string): boolean {
  const { categories } = this;
  const errors = [{ keyword: 'enum', params: { allowedValues: categories } }];
  Object.assign(isKnownCategory, { errors });
  return categories === null || categories.includes(text);
}

/** Whether a text is an address. Reported like `format`, or as `address` if a new one is not in ASCII. */
function isAddress(this: Context, _wanted: boolean, text: string, parentSchema?: AnySchemaObject): boolean {
  const address = toAsciiAddress(text);
  const keyword = address === undefined ? 'format' : 'address';
  Object.assign(isAddress, { errors: [{ keyword, params: { address }, parentSchema }] });
  if (address === undefined || address === text) return address === text;
  return this.known === null || this.known.includes(JSON.stringify(text));
}

/** Generates the validation of a list's entries, up to the maximum length and the maximum of faults. */
function checkItems(context: KeywordCxt): void {
  const { gen, data, parentSchema } = context;
  const end = gen.const('end', _`Math.min(${data}.length, ${countChecked(parentSchema)})`);
  const i = gen.name('i');
  gen.for(_`let ${i} = 0; ${i} < ${end} && errors < ${maxFaults}; ${i}++`, () => {
    context.subschema({ keyword: 'items', dataProp: i, dataPropType: Type.Num }, gen.name('valid'));
  });
}

/** Generates the validation of an object's keys, up to the maximum of faults. */
function checkNames(context: KeywordCxt): void {
  const { gen, data } = context;
  gen.forIn('key', data, (key) => {
    gen.if(_`errors >= ${maxFaults}`, () => gen.break());
    context.subschema(
      { keyword: 'propertyNames', data: key, dataTypes: ['string'], propertyName: key, compositeRule: true },
      gen.name('valid'),
    );
  });
}

/** Returns how many entries of a list are validated. */
function countChecked(schema: AnySchemaObject | undefined): number {
  return Number(schema?.['maxItems'] ?? Infinity);
}

/** Whether the entries of a list are distinct. Reports each repeated entry. */
function uniqueItems(wanted: boolean, list: readonly unknown[], schema?: AnySchemaObject): boolean {
  const entries = list.slice(0, countChecked(schema)).map((entry) => JSON.stringify(entry));
  const first = new Map(entries.map((entry, i) => [entry, i] as const).toReversed());
  const errors = entries.flatMap((entry, i) =>
    first.get(entry) === i ? [] : [{ keyword: 'uniqueItems', params: { i } }],
  );
  Object.assign(uniqueItems, { errors });
  return !wanted || errors.length === 0;
}

/** Whether to skip an error because another one is more helpful. "A text or null" is an `anyOf`, which reports several errors. */
function isShadowed(error: SchemaError, errors: readonly SchemaError[]): boolean {
  if (error.keyword === 'anyOf') return true;
  if (error.keyword === 'type' && error.params['type'] === 'null') return true;
  // For a value of the wrong length, the pattern does not need a message.
  if (!['pattern', 'format', 'address'].includes(error.keyword)) return false;
  return errors.some(
    (other) =>
      other !== error &&
      other.instancePath === error.instancePath &&
      (['minLength', 'maxLength', 'enum'].includes(other.keyword) ||
        (other.keyword === 'pattern' && error.keyword !== 'pattern')),
  );
}

function toErrorPlace(
  { instancePath, params, keyword, data, propertyName }: SchemaError,
  root: unknown,
): (string | number)[] {
  let value = root;
  const place: (string | number)[] = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => {
      const key = Array.isArray(value) ? Number(part) : part;
      value = (value as Readonly<Record<string | number, unknown>>)[key];
      return key;
    });
  if (propertyName !== undefined) place.push(propertyName);
  if (keyword === 'additionalProperties') place.push(String(params['additionalProperty']));
  if (keyword === 'uniqueItems' && Array.isArray(data)) place.push(Number(params['i']));
  return place;
}
