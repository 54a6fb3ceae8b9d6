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

  function printBlock(
    brackets: '[]' | '{}',
    items: readonly Node[],
    order: KeyOrder,
    newline: string,
  ): string {
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
