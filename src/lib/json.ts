import {
  type ParseErrorCode,
  printParseErrorCode,
  visit,
  type Node,
  parseTree,
  applyEdits,
  type Edit,
  findNodeAtLocation,
  type JSONPath,
} from 'jsonc-parser';
import { quoteValue } from './text.ts';

/** A fault of a text by the rules of strict JSON. */
export interface JsonFault {
  /** In UTF-16 units from the start of the text. */
  readonly offset: number;
  readonly rule: string;
  /** The problem, a colon, and the fix. */
  readonly message: string;
}

export type StrictJson<T> = { readonly data: T } | { readonly faults: readonly [JsonFault, ...JsonFault[]] };

/**
 * Reads strict JSON: an object, no key twice, no half of a surrogate pair, no comment, no trailing comma, not nested
 * too deep. Returns all duplicate keys at once, up to a hundred; of any other kind only the first fault.
 * @param what the name of the text in messages
 * @param depth levels at most
 */
export function readStrictJson(
  text: string,
  what: string,
  depth = maxDepth,
): StrictJson<Record<string, unknown>> {
  const other = { rule: 'object', message: `${what} is not an object: put the keys in { }` };
  return readStrict(text, what, depth, isObject, other);
}

/** Whether a value is an object, and not a list. */
export function isObject(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

/** As readStrictJson, of a list. */
export function readStrictList(text: string, what: string, depth: number): StrictJson<unknown[]> {
  const other = { rule: 'list', message: `${what} is not a list: put the entries in [ ]` };
  return readStrict(text, what, depth, (data) => Array.isArray(data), other);
}

/** @param other the fault of a value of another type */
function readStrict<T>(
  text: string,
  what: string,
  depth: number,
  isWanted: (data: unknown) => data is T,
  other: Omit<JsonFault, 'offset'>,
): StrictJson<T> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    // The scan below has a better message.
  }
  if (isWanted(data) && isFaultless(text, data, depth)) return { data };
  const { fault, duplicates } = scanText(text, what, depth);
  if (fault) return { faults: [fault] };
  if (data === undefined) return { faults: [{ offset: 0, rule: 'json', message: generalAdvice }] };
  if (!isWanted(data)) return { faults: [{ offset: 0, ...other }] };
  const [first, ...more] = duplicates;
  return first ? { faults: [first, ...more] } : { data };
}

/** Returns the fault of a JSON text with a duplicate key; undefined without one. @param value of the text */
export function findDuplicateKey(text: string, value: unknown): string | undefined {
  if (measure(text).members === countKeys(value)) return undefined;
  return scanText(text, '', maxDepth).duplicates[0]?.message ?? 'a key is here twice: keep one of them';
}

const maxDepth = 8;

/** Whether a value has all keys of its text, and not too many levels. Takes a fifth of the time of a visit. */
function isFaultless(text: string, data: unknown, depth: number): boolean {
  if (surrogateEscape.test(text)) return false;
  const { levels, members } = measure(text);
  // A duplicate key is one key of the value.
  return levels <= depth && members === countKeys(data);
}

/** The escape of half a surrogate pair, which may be followed by the other one. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/** Counts the levels and the keys of a JSON text, without reading the keys. */
function measure(text: string): { readonly levels: number; readonly members: number } {
  let [level, levels, members] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = endOfString(text, i);
    else if (code === colon) members++;
    else if (code === openBrace || code === openBracket) levels = Math.max(levels, ++level);
    else if (code === closeBrace || code === closeBracket) level--;
  }
  return { levels, members };
}

/** Returns the end of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (text.charCodeAt(i) !== quote) i += text.charCodeAt(i) === backslash ? 2 : 1;
  return i;
}

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return children.reduce<number>(
    (count, child) => count + countKeys(child),
    Array.isArray(value) ? 0 : children.length,
  );
}

/** Thrown to end a visit, which cannot be stopped otherwise: it would follow brackets until the stack is full. */
class StopVisit extends Error {}

const maxDuplicates = 100;

/** Returns the first fault of syntax or depth, and the duplicate keys before it. */
function scanText(
  text: string,
  what: string,
  depth: number,
): { readonly fault?: JsonFault; readonly duplicates: JsonFault[] } {
  const duplicates: JsonFault[] = [];
  const levels: Set<string>[] = [];
  let fault: JsonFault | undefined;
  const stop = (found: JsonFault): never => {
    fault = found;
    throw new StopVisit();
  };
  const open = (): void => {
    if (levels.length === depth) {
      const message = `${what} is nested more than ${depth} levels deep: no key needs that, make it flat`;
      stop({ offset: 0, rule: 'nesting', message });
    }
    levels.push(new Set());
  };
  const close = (): void => void levels.pop();
  const throwAtHalf = (value: unknown, offset: number): void => {
    const message =
      'a text has half of a character here, such as \\ud83d: write both halves, or the character itself';
    if (typeof value === 'string' && !value.isWellFormed()) stop({ offset, rule: 'unicode', message });
  };
  const visitor = {
    onObjectBegin: open,
    onObjectEnd: close,
    onArrayBegin: open,
    onArrayEnd: close,
    onObjectProperty: (key: string, offset: number): void => {
      throwAtHalf(key, offset);
      const keys = levels.at(-1);
      if (keys?.has(key) && duplicates.length < maxDuplicates) {
        const message = `the key ${quoteValue(key)} is here twice: keep one of them`;
        duplicates.push({ offset, rule: 'duplicate-key', message });
      }
      keys?.add(key);
    },
    onLiteralValue: throwAtHalf,
    onError: (code: ParseErrorCode, offset: number): void =>
      stop({ offset, rule: 'json', message: advice[printParseErrorCode(code)] ?? generalAdvice }),
  };
  try {
    visit(text, visitor, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  } catch (thrown) {
    if (!(thrown instanceof StopVisit)) throw thrown;
  }
  return { ...(fault && { fault }), duplicates };
}

const generalAdvice = 'this is not JSON: check the quotes, commas and braces here';

const advice: Readonly<Record<string, string>> = {
  CommaExpected: 'a comma is missing: put one after the value before this',
  ColonExpected: 'a colon is missing: write "key": value',
  PropertyNameExpected: 'a key is expected here: write it in double quotes, and no comma after the last one',
  ValueExpected: 'a value is missing here: add it, and put no comma after the last one',
  CloseBraceExpected: 'a } is missing: close the object here',
  CloseBracketExpected: 'a ] is missing: close the list here',
  EndOfFileExpected: 'this comes after the end of the object: put every key inside { }',
  InvalidSymbol: 'this is not a JSON value: put text in double quotes; true, false and null are lower case',
  InvalidNumberFormat: 'this is not a JSON number: write plain digits',
  InvalidCommentToken: 'JSON has no comments: remove it',
  UnexpectedEndOfString: 'a text is not closed: end it with a double quote on the same line',
  UnexpectedEndOfComment: 'JSON has no comments: remove it',
  UnexpectedEndOfNumber: 'this number is cut off: write plain digits',
  InvalidUnicode: 'this \\u escape is wrong: it takes four hexadecimal digits',
  InvalidEscapeCharacter: 'JSON has no such escape: write \\\\ for a backslash',
  InvalidCharacter: 'this character is not allowed here: escape it, such as \\n or \\t',
};

/** Key → the order of the keys in its value. */
export interface KeyOrder extends ReadonlyMap<string, KeyOrder> {}

/**
 * Prints a JSON text with its keys in an order, two spaces and LF. Keys that are not in the order come last, as they
 * are. A number keeps its digits, which JSON.parse would round, and a text its characters.
 * @throws {Error} when the text is not JSON
 */
export function printJson(text: string, order: KeyOrder): string {
  const root = parseTree(text);
  if (root === undefined) throw new Error('the text is not JSON');
  return print(root, order, '\n');

  function print(
    { type, children = [], offset, length, value }: Node,
    order: KeyOrder,
    newline: string,
  ): string {
    switch (type) {
      case 'array':
        return printBlock('[]', children, noOrder, newline);
      case 'object':
        return printBlock('{}', sortMembers(children, order), order, newline);
      case 'property': {
        const [key, member] = children as [Node, Node];
        const name = key.value as string;
        return `${JSON.stringify(name)}: ${print(member, order.get(name) ?? noOrder, newline)}`;
      }
      case 'string':
        return JSON.stringify(value);
      default:
        return text.slice(offset, offset + length);
    }
  }

  function printBlock(brackets: '[]' | '{}', items: readonly Node[], order: KeyOrder, newline: string) {
    if (items.length === 0) return brackets;
    const inner = `${newline}  `;
    const lines = items.map((item) => print(item, order, inner));
    return `${brackets[0]}${inner}${lines.join(`,${inner}`)}${newline}${brackets[1]}`;
  }
}

const noOrder: KeyOrder = new Map();

function sortMembers(properties: readonly Node[], order: KeyOrder): readonly Node[] {
  const names = [...order.keys()];
  const rankOf = ({ children }: Node): number => {
    const rank = names.indexOf(children?.[0]?.value as string);
    return rank === -1 ? names.length : rank;
  };
  return properties.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Returns a function from a path of keys and indices to the offset of its value in a JSON text; of its key with `atKey`. */
export function createLocator(text: string): (path: JSONPath, atKey?: boolean) => number {
  let root: Node | undefined;
  return (path, atKey = false) => {
    root ??= parseTree(text);
    const node = root && findNodeAtLocation(root, path);
    if (!node) return root?.offset ?? 0;
    return atKey ? (node.parent?.children?.[0]?.offset ?? node.offset) : node.offset;
  };
}

/**
 * Sets top-level keys of a JSON object and keeps every other byte of it. A key that is there keeps its
 * place; a new one goes to the end, indented as the first key is.
 * @throws {Error} when the text is not a JSON object
 */
export function setKeys(text: string, values: Readonly<Record<string, unknown>>): string {
  const root = parseTree(text);
  if (root?.type !== 'object') throw new Error('the text is not a JSON object: put the keys in { }');
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const [, lead = '', indent = ''] = /^\s*\{(?:[ \t]*(\r?\n)([ \t]*)")?/.exec(text) ?? [];
  const written = (value: unknown): string =>
    lead === ''
      ? JSON.stringify(value)
      : JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${indent}`);
  const members = root.children?.map(
    ({ children }) => [children?.[0]?.value as string, children?.[1]] as const,
  );
  const nodes = new Map(members);
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    const node = nodes.get(key);
    if (node) edits.push({ offset: node.offset, length: node.length, content: written(value) });
    else added.push(`${JSON.stringify(key)}:${lead === '' ? '' : ' '}${written(value)}`);
  }
  if (added.length > 0) edits.push(createInsertion(root, added, lead === '' ? '' : `${eol}${indent}`));
  return applyEdits(text, edits);
}

/** Removes top-level keys of a JSON object and keeps every other byte of it; missing keys are ignored. */
export function removeKeys(text: string, keys: ReadonlySet<string>): string {
  const properties = parseTree(text)?.children ?? [];
  let [rest, end, isAfterKept] = ['', 0, false];
  for (const [i, property] of properties.entries()) {
    const [last, next] = [properties[i - 1], properties[i + 1]];
    if (!keys.has(property.children?.[0]?.value as string)) isAfterKept = true;
    // The comma before a key goes with it; that after it, if no key before it stays.
    else if (isAfterKept && last) [rest, end] = [rest + text.slice(end, endOf(last)), endOf(property)];
    else [rest, end] = [rest + text.slice(end, property.offset), next?.offset ?? endOf(property)];
  }
  return rest + text.slice(end);
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function createInsertion(root: Node, added: readonly string[], separator: string): Edit {
  const last = root.children?.at(-1);
  const offset = last ? endOf(last) : root.offset + 1;
  const list = added.join(`,${separator}`);
  return { offset, length: 0, content: `${last ? ',' : ''}${separator}${list}` };
}
