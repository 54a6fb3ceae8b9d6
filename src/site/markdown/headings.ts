import {
  type Element,
  type Fragment,
  isElement,
  type Node,
  readAttributes,
  setAttributes,
  textOf,
} from './html-tree.ts';

/** A heading of a text, with the id that links lead to. */
export interface Heading {
  readonly id: string;
  readonly text: string;
  /** 2 to 6: an `h2` is one of the highest. */
  readonly level: number;
}

/** The start of a heading's id. An id of the page itself never begins so, and a slug has no dot. */
const prefix = 'page-';

/** Sets the id of each heading, which is made of its text, and returns those that have one. */
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

/** Returns the headings among these nodes and within them, from top to bottom. */
export function listHeadings(nodes: readonly Node[]): Element[] {
  return nodes.filter(isElement).flatMap((node) => {
    const inside = listHeadings(node.childNodes);
    return /^h[1-6]$/.test(node.tagName) ? [node, ...inside] : inside;
  });
}

/**
 * Points each link within the page to the heading it means, by the slug that Git hosts make of a heading. A link to the
 * title or to the top leads to the top; of a link to nothing only its content stays.
 */
export function linkHeadings(tree: Fragment, title: string, headings: readonly Heading[]): void {
  const ids = new Set(headings.map(({ id }) => id));
  const targetOf = (fragment: string): string | undefined => {
    const slug = toSlug(decodeFragment(fragment));
    const [, first = slug, number = '0'] = /^(.+)-(\d{1,5})$/.exec(slug) ?? [];
    const id = [`${prefix}${slug}`, `${prefix}${first}.${Number(number) + 1}`].find((known) =>
      ids.has(known),
    );
    return id ?? (['', 'top', toSlug(title)].includes(slug) ? 'top' : undefined);
  };
  const linked = (nodes: readonly Node[]): Node[] =>
    nodes.flatMap((node) => {
      if (!isElement(node)) return [node];
      node.childNodes = linked(node.childNodes);
      const { href = '', title: hint } = readAttributes(node);
      if (node.tagName !== 'a' || !href.startsWith('#')) return [node];
      const target = targetOf(href.slice(1));
      if (target === undefined) return node.childNodes;
      setAttributes(node, { href: `#${target}`, title: hint });
      return [node];
    });
  tree.childNodes = linked(tree.childNodes);
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** Returns the letters and digits of any script, in lower case, with hyphens between words. */
function toSlug(text: string): string {
  const words = text
    .slice(0, maxSlugLength)
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu);
  return words?.join('-') ?? '';
}

const maxSlugLength = 60;
