import {
  type DefaultTreeAdapterTypes,
  type DefaultTreeAdapterMap,
  defaultTreeAdapter,
  html as standard,
  parseFragment,
  type TreeAdapter,
} from 'parse5';
import { BotshelfError } from '../../lib/errors.ts';
import { toSlug } from '../../lib/text.ts';

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

/** A heading of a text, with the id for links. */
export interface Heading {
  readonly id: string;
  readonly text: string;
  /** 2 to 6; the highest headings are `h2`. */
  readonly level: number;
}

/** The beginning of a heading's id. Other ids of the page do not begin with it, and slugs have no dot. */
const prefix = 'page-';

/** Sets the id of each heading from its text, and returns the headings with an id. */
export function nameHeadings(tree: Fragment): Heading[] {
  const used = new Map<string, number>();
  return listHeadings(tree.childNodes).flatMap((node) => {
    const text = textOf(node).trim();
    const slug = toSlug(text);
    if (slug === '') return [];
    const times = (used.get(slug) ?? 0) + 1;
    used.set(slug, times);
    const id = `${prefix}${slug}${times === 1 ? '' : `.${times}`}`;
    node.attrs.push({ name: 'id', value: id });
    return [{ id, text, level: Number(node.tagName.slice(1)) }];
  });
}

/** Returns the headings among and inside these nodes, from top to bottom. */
export function listHeadings(nodes: readonly Node[]): Element[] {
  return nodes.filter(isElement).flatMap((node) => {
    const inside = listHeadings(node.childNodes);
    return /^h[1-6]$/.test(node.tagName) ? [node, ...inside] : inside;
  });
}

/**
 * Points each link within the page to its heading, by the slug that Git hosts make of a heading; some of them join
 * hyphens. A link to the title or the top leads to the top. A link without a target is replaced by its content.
 */
export function linkHeadings(tree: Fragment, title: string, headings: readonly Heading[]): void {
  const ids = new Map(
    headings.toReversed().flatMap(
      ({ id }) =>
        [
          [joinHyphens(id), id],
          [id, id],
        ] as const,
    ),
  );
  const targetOf = (fragment: string): string | undefined => {
    const slug = toSlug(decodeFragment(fragment));
    const [, first = slug, number = '0'] = /^(.+)-(\d{1,5})$/.exec(slug) ?? [];
    const wanted = [`${prefix}${slug}`, `${prefix}${first}.${Number(number) + 1}`];
    const id = [...wanted, ...wanted.map(joinHyphens)].flatMap((known) => ids.get(known) ?? [])[0];
    return id ?? (['', 'top', toSlug(title)].includes(slug) ? 'top' : undefined);
  };
  const linked = (nodes: readonly Node[]): Node[] =>
    nodes.flatMap((node) => {
      if (!isElement(node)) return [node];
      node.childNodes = linked(node.childNodes);
      const { href = '', title: hint, id } = readAttributes(node);
      if (node.tagName !== 'a' || !href.startsWith('#')) return [node];
      const target = targetOf(href.slice(1)) ?? toFootnoteId(href.slice(1));
      if (target === undefined) return node.childNodes;
      setAttributes(node, { href: `#${target}`, title: hint, id });
      return [node];
    });
  tree.childNodes = linked(tree.childNodes);
}

/** Returns the id of a footnote, or of a reference to it, as markdown-it-footnote writes it. */
export function toFootnoteId(id = ''): string | undefined {
  return /^fn(?:ref)?\d{1,4}(?::\d{1,4})?$/.test(id) ? id : undefined;
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function joinHyphens(slug: string): string {
  return slug.replace(/-+/g, '-');
}
