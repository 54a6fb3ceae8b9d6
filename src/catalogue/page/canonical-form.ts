import { propertiesOf, readSchema, type SchemaDocument } from '../../bot/schemas.ts';
import { rewriteFrontMatter } from './page.ts';

/**
 * A page file in the one canonical form: its keys in the order of the main page's schema, two spaces, LF.
 * Keys that the schema does not know come last, in their own order. A number keeps its digits, a text its
 * characters, and the markdown every byte; so the form of a canonical file is that file.
 * @throws {Error} when the text is no page file that can be parsed.
 */
export function canonicalForm(text: string): string {
  return rewriteFrontMatter(text, (json) => print(parse(json), mainPageOrder, ''));
}

/** A JSON value that remembers its numbers as they are written: JSON.parse would lose digits of a long one. */
type Value =
  | { readonly kind: 'scalar'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Value[] }
  | { readonly kind: 'object'; readonly members: readonly Member[] };

type Member = readonly [key: string, value: Value];

/** Key → the order of the keys in its value. */
interface KeyOrder extends ReadonlyMap<string, KeyOrder> {}

const mainPageOrder = orderOf(readSchema('main-page'));

function orderOf(schema: SchemaDocument): KeyOrder {
  return new Map(Object.entries(propertiesOf(schema)).map(([key, value]) => [key, orderOf(value)]));
}

function print(value: Value, order: KeyOrder, indent: string): string {
  const inner = `${indent}  `;
  switch (value.kind) {
    case 'scalar':
      return value.text;
    case 'list':
      return block(
        '[',
        ']',
        indent,
        value.items.map((item) => print(item, noOrder, inner)),
      );
    case 'object': {
      const lines = sorted(value.members, order).map(
        ([key, member]) => `${JSON.stringify(key)}: ${print(member, order.get(key) ?? noOrder, inner)}`,
      );
      return block('{', '}', indent, lines);
    }
  }
}

const noOrder: KeyOrder = new Map();

function block(open: string, close: string, indent: string, lines: readonly string[]): string {
  if (lines.length === 0) return open + close;
  return `${open}\n${lines.map((line) => `${indent}  ${line}`).join(',\n')}\n${indent}${close}`;
}

function sorted(members: readonly Member[], order: KeyOrder): readonly Member[] {
  const ranks = new Map([...order.keys()].map((key, rank) => [key, rank]));
  const rankOf = ([key]: Member): number => ranks.get(key) ?? ranks.size;
  return members.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Parses JSON that is known to be sound. */
function parse(json: string): Value {
  const tokens = json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"{}[\],:]+|[{}[\]]/g);
  return parseValue(tokens, nextToken(tokens));
}

type Tokens = Iterator<RegExpExecArray>;

function parseValue(tokens: Tokens, first: string): Value {
  switch (first) {
    case '[': {
      const items: Value[] = [];
      for (let token = nextToken(tokens); token !== ']'; token = nextToken(tokens)) {
        items.push(parseValue(tokens, token));
      }
      return { kind: 'list', items };
    }
    case '{': {
      const members: Member[] = [];
      for (let key = nextToken(tokens); key !== '}'; key = nextToken(tokens)) {
        members.push([JSON.parse(key) as string, parseValue(tokens, nextToken(tokens))]);
      }
      return { kind: 'object', members };
    }
    default:
      return { kind: 'scalar', text: first.startsWith('"') ? JSON.stringify(JSON.parse(first)) : first };
  }
}

function nextToken(tokens: Tokens): string {
  const { done, value } = tokens.next();
  if (done === true) throw new Error('the front matter ends too early');
  return value[0];
}
