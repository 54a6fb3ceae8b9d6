import {
  type DefaultTreeAdapterTypes,
  type DefaultTreeAdapterMap,
  defaultTreeAdapter,
  html as standard,
  parseFragment,
  type TreeAdapter,
} from 'parse5';
import { BotshelfError } from '../../lib/errors.ts';

export type Fragment = DefaultTreeAdapterTypes.DocumentFragment;
export type Element = DefaultTreeAdapterTypes.Element;
export type Node = DefaultTreeAdapterTypes.ChildNode;
type Text = DefaultTreeAdapterTypes.TextNode;
export type Attributes = Readonly<Record<string, string | undefined>>;

/** Returns the error for HTML with more elements, or deeper nesting, than a page may have. */
export function createHtmlError(): BotshelfError {
  return new BotshelfError(
    'html-too-large',
    'the HTML has more elements, or deeper nesting, than a page may have',
  );
}

/**
 * Parses HTML like a browser inside a `div`. A short text can become millions of elements, because each paragraph
 * reopens the elements that the one before left open.
 * @throws {BotshelfError} html-too-large, for more than `maxElements` elements
 */
export function parseHtml(text: string, maxElements = Infinity): Fragment {
  let count = 0;
  const treeAdapter: TreeAdapter<DefaultTreeAdapterMap> = {
    ...defaultTreeAdapter,
    createElement: (...parts) => {
      count += 1;
      if (count > maxElements) throw createHtmlError();
      return defaultTreeAdapter.createElement(...parts);
    },
  };
  return parseFragment(createElement('div', {}), text, { treeAdapter });
}

export { serialize as serialiseHtml } from 'parse5';

/** Creates an HTML element. Leaves out undefined attributes. */
export function createElement(tagName: string, attributes: Attributes, childNodes: Node[] = []): Element {
  const made = defaultTreeAdapter.createElement(tagName, standard.NS.HTML, toAttributes(attributes));
  made.childNodes = childNodes;
  return made;
}

export function createTextNode(value: string): Text {
  return defaultTreeAdapter.createTextNode(value);
}

export function isElement(node: Node | undefined): node is Element {
  return node !== undefined && defaultTreeAdapter.isElementNode(node);
}

export function isText(node: Node | undefined): node is Text {
  return node !== undefined && defaultTreeAdapter.isTextNode(node);
}

/** Whether an element is HTML, not SVG or MathML. */
export function isHtml({ namespaceURI }: Element): boolean {
  return namespaceURI === standard.NS.HTML;
}

/** Returns the attributes of an element by name. */
export function readAttributes({ attrs }: Element): Attributes {
  return Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
}

/** Replaces all attributes of an element. */
export function setAttributes(node: Element, attributes: Attributes): void {
  node.attrs = toAttributes(attributes);
}

export function textOf(node: Node): string {
  if (isText(node)) return node.value;
  return isElement(node) ? node.childNodes.map(textOf).join('') : '';
}

function toAttributes(attributes: Attributes): Element['attrs'] {
  return Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  );
}
