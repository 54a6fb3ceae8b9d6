import * as parse5 from 'parse5';
import { BotshelfError } from '../../lib/errors.ts';

export type Fragment = parse5.DefaultTreeAdapterTypes.DocumentFragment;
export type Element = parse5.DefaultTreeAdapterTypes.Element;
export type Node = parse5.DefaultTreeAdapterTypes.ChildNode;
type Text = parse5.DefaultTreeAdapterTypes.TextNode;
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
  const treeAdapter: parse5.TreeAdapter<parse5.DefaultTreeAdapterMap> = {
    ...parse5.defaultTreeAdapter,
    createElement: (...parts) => {
      count += 1;
      if (count > maxElements) throw createHtmlError();
      return parse5.defaultTreeAdapter.createElement(...parts);
    },
  };
  return parse5.parseFragment(createElement('div', {}), text, { treeAdapter });
}

export { serialize as serialiseHtml } from 'parse5';

/** Creates an HTML element. Leaves out undefined attributes. */
export function createElement(tagName: string, attributes: Attributes, childNodes: Node[] = []): Element {
  const made = parse5.defaultTreeAdapter.createElement(
    tagName,
    parse5.html.NS.HTML,
    toAttributes(attributes),
  );
  made.childNodes = childNodes;
  return made;
}

export function createTextNode(value: string): Text {
  return parse5.defaultTreeAdapter.createTextNode(value);
}

export function isElement(node: Node | undefined): node is Element {
  return node !== undefined && parse5.defaultTreeAdapter.isElementNode(node);
}

export function isText(node: Node | undefined): node is Text {
  return node !== undefined && parse5.defaultTreeAdapter.isTextNode(node);
}

/** Whether an element is HTML, not SVG or MathML. */
export function isHtml({ namespaceURI }: Element): boolean {
  return namespaceURI === parse5.html.NS.HTML;
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
