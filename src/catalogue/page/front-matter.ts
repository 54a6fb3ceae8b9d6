import {
  applyEdits,
  type Edit,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { mostFaults, quoted } from './fault.ts';

/** A fault at an offset of the front matter's text. */
export interface TextFault {
  readonly offset: number;
  readonly rule: string;
  readonly message: string;
}

export type FrontMatter =
  | { readonly data: Record<string, unknown> }
  | { readonly faults: readonly TextFault[] };

/**
 * Reads front matter as strict JSON: an object, no key twice, no comment, no trailing comma, at most
 * eight levels deep. Finds duplicate keys all at once, up to a hundred.
 */
export function parseFrontMatter(text: string): FrontMatter {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { faults: syntaxFaults(text) };
  }
  const { depth, keys } = measure(text);
  if (depth > deepest) return { faults: [tooDeep] };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return {
      faults: [{ offset: 0, rule: 'object', message: 'the front matter is no object: put the keys in { }' }],
    };
  }
  if (keys !== countKeys(value)) return { faults: duplicateFaults(text) };
  return { data: value as Record<string, unknown> };
}

/** Tells where the value at a path of keys and indices stands in a JSON text; its key's place with `atKey`. */
export function locator(text: string): (path: JSONPath, atKey?: boolean) => number {
  let root: Node | undefined;
  return (path, atKey = false) => {
    root ??= parseTree(text);
    const node = root && findNodeAtLocation(root, path);
    if (!node) return root?.offset ?? 0;
    return atKey ? (node.parent?.children?.[0]?.offset ?? node.offset) : node.offset;
  };
}

/**
 * Sets top-level keys of a front matter and keeps every other byte of it. A key that is there keeps its
 * place; a new one goes to the end, indented as the first key is.
 * @throws {Error} when the text is no JSON object.
 */
export function setKeys(text: string, values: Readonly<Record<string, unknown>>): string {
  const root = parseTree(text);
  if (root?.type !== 'object') throw new Error('the front matter is no object: put the keys in { }');
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const [, lead = '', indent = ''] = /^\s*\{(?:[ \t]*(\r?\n)([ \t]*)")?/.exec(text) ?? [];
  const written = (value: unknown): string =>
    lead === ''
      ? JSON.stringify(value)
      : JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${indent}`);
  const edits: Edit[] = [];
  const added: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    const node = findNodeAtLocation(root, [key]);
    if (node) edits.push({ offset: node.offset, length: node.length, content: written(value) });
    else added.push(`${JSON.stringify(key)}:${lead === '' ? '' : ' '}${written(value)}`);
  }
  if (added.length > 0) edits.push(insertion(root, added, lead === '' ? '' : `${eol}${indent}`));
  return applyEdits(text, edits);
}

/**
 * Removes top-level keys of a front matter and keeps every other byte of it; a key that is not there is fine.
 * @throws {Error} when the text is no JSON object.
 */
export function removeKeys(text: string, keys: readonly string[]): string {
  return keys.reduce((rest, key) => applyEdits(rest, modify(rest, [key], undefined, {})), text);
}

function insertion(root: Node, added: readonly string[], separator: string): Edit {
  const last = root.children?.at(-1);
  const offset = last ? last.offset + last.length : root.offset + 1;
  const list = added.join(`,${separator}`);
  return { offset, length: 0, content: `${last ? ',' : ''}${separator}${list}` };
}

const deepest = 8;

const tooDeep: TextFault = {
  offset: 0,
  rule: 'nesting',
  message: `the front matter is nested more than ${deepest} levels deep: no key needs that, make it flat`,
};

/** The depth of a JSON text and its keys, duplicates counted as often as they stand there. */
function measure(text: string): { depth: number; keys: number } {
  let depth = 0;
  let level = 0;
  let keys = 0;
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"\s*:?|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth = Math.max(depth, ++level);
    else if (token === '}' || token === ']') level--;
    else if (token.endsWith(':')) keys++;
  }
  return { depth, keys };
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const children: unknown[] = Object.values(value);
  return children.reduce<number>(
    (sum, child) => sum + countKeys(child),
    Array.isArray(value) ? 0 : children.length,
  );
}

/** What JSON.parse found wrong, told by a parser that knows where. Never deeper than the stack allows. */
function syntaxFaults(text: string): TextFault[] {
  if (nesting(text) > 1000) return [tooDeep];
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  const [first] = errors;
  if (first === undefined) {
    return [
      { offset: 0, rule: 'json', message: 'the front matter is no JSON: check quotes, commas and escapes' },
    ];
  }
  return [
    {
      offset: first.offset,
      rule: 'json',
      message: advice[printParseErrorCode(first.error)] ?? generalAdvice,
    },
  ];
}

/** How deep the brackets of a text nest that may be no JSON; those in quotes count too. */
function nesting(text: string): number {
  let depth = 0;
  let level = 0;
  for (const [bracket] of text.matchAll(/[{}[\]]/g)) {
    level += '{['.includes(bracket) ? 1 : -1;
    depth = Math.max(depth, level);
  }
  return depth;
}

const generalAdvice = 'this is not JSON: check the quotes, commas and braces here';

const advice: Readonly<Record<string, string>> = {
  CommaExpected: 'a comma is missing: put one after the value before this',
  ColonExpected: 'a colon is missing: write "key": value',
  PropertyNameExpected: 'a key is expected here: write it in double quotes, and no comma after the last one',
  ValueExpected: 'a value is missing here: give one, and no comma after the last one',
  CloseBraceExpected: 'a } is missing: close the object here',
  CloseBracketExpected: 'a ] is missing: close the list here',
  EndOfFileExpected: 'this stands after the end of the object: put every key inside { }',
  InvalidSymbol: 'this is no JSON value: put text in double quotes; true, false and null are lower case',
  InvalidNumberFormat: 'this is no JSON number: write plain digits',
  InvalidCommentToken: 'JSON has no comments: remove it',
  UnexpectedEndOfString: 'a text is not closed: end it with a double quote on the same line',
  UnexpectedEndOfComment: 'JSON has no comments: remove it',
  UnexpectedEndOfNumber: 'this number is cut off: write plain digits',
  InvalidUnicode: 'this \\u escape is wrong: it takes four hexadecimal digits',
  InvalidEscapeCharacter: 'JSON knows no such escape: write \\\\ for a backslash',
  InvalidCharacter: 'this character cannot stand here: escape it, such as \\n or \\t',
};

function duplicateFaults(text: string): TextFault[] {
  const root = parseTree(text);
  return root ? [...duplicatesIn(root)].slice(0, mostFaults) : [];
}

function* duplicatesIn(node: Node): Generator<TextFault> {
  const seen = new Set<unknown>();
  for (const child of node.children ?? []) {
    const key = node.type === 'object' ? child.children?.[0] : undefined;
    if (key !== undefined && seen.has(key.value)) {
      const message = `the key ${quoted(key.value)} stands here twice: keep one of them`;
      yield { offset: key.offset, rule: 'duplicate-key', message };
    }
    seen.add(key?.value);
    yield* duplicatesIn(child);
  }
}
