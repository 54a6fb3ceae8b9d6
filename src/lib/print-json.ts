import { type Node, parseTree } from 'jsonc-parser';

/** Key → the order of the keys in its value. */
export interface KeyOrder extends ReadonlyMap<string, KeyOrder> {}

/**
 * Prints a JSON text with its keys in an order, two spaces and LF. Keys that the order lacks come last, in their
 * own order. A number keeps its digits, which JSON.parse would round, and a text its characters.
 * @throws {Error} when the text is not JSON
 */
export function printJson(text: string, order: KeyOrder): string {
  const root = parseTree(text);
  if (root === undefined) throw new Error('the text is not JSON');
  return print(root, order, '');

  function print(
    { type, children = [], offset, length, value }: Node,
    order: KeyOrder,
    indent: string,
  ): string {
    const inner = `${indent}  `;
    switch (type) {
      case 'array':
        return formatBlock(
          '[]',
          indent,
          children.map((child) => print(child, noOrder, inner)),
        );
      case 'object': {
        const lines = sortMembers(children, order).map(
          ({ key, value }) => `${JSON.stringify(key)}: ${print(value, order.get(key) ?? noOrder, inner)}`,
        );
        return formatBlock('{}', indent, lines);
      }
      case 'string':
        return JSON.stringify(value);
      default:
        return text.slice(offset, offset + length);
    }
  }
}

const noOrder: KeyOrder = new Map();

function formatBlock(brackets: '[]' | '{}', indent: string, lines: readonly string[]): string {
  if (lines.length === 0) return brackets;
  return `${brackets[0]}\n${lines.map((line) => `${indent}  ${line}`).join(',\n')}\n${indent}${brackets[1]}`;
}

interface Member {
  readonly key: string;
  readonly value: Node;
}

function sortMembers(properties: readonly Node[], order: KeyOrder): readonly Member[] {
  const ranks = new Map([...order.keys()].map((key, rank) => [key, rank]));
  const rankOf = ({ key }: Member): number => ranks.get(key) ?? ranks.size;
  return properties
    .flatMap(({ children: [key, value] = [] }) => (key && value ? [{ key: key.value as string, value }] : []))
    .toSorted((a, b) => rankOf(a) - rankOf(b));
}
