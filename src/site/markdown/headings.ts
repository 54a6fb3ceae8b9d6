import { type Element, type Fragment, isElement, type Node, setAttributes, textOf } from './html-tree.ts';

/** A heading of a text, with the id that links lead to. */
export interface Heading {
  readonly id: string;
  readonly text: string;
  /** 2 to 6: an `h2` is one of the highest. */
  readonly level: number;
}

/** Sets the id of each heading, which is made of its text, and returns those that have one. */
export function nameHeadings(tree: Fragment): Heading[] {
  const used = new Map<string, number>();
  return headingsIn(tree.childNodes).flatMap((node) => {
    const text = textOf(node).trim();
    const slug = slugOf(text);
    if (slug === '') return [];
    const times = (used.get(slug) ?? 0) + 1;
    used.set(slug, times);
    // An id of the page itself never begins so, and a slug has no dot.
    const id = `page-${slug}${times === 1 ? '' : `.${times}`}`;
    const others = Object.fromEntries(node.attrs.map(({ name, value }) => [name, value]));
    setAttributes(node, { ...others, id });
    return [{ id, text, level: Number(node.tagName.slice(1)) }];
  });
}

/** Returns the headings among these nodes and within them, from top to bottom. */
export function headingsIn(nodes: readonly Node[]): Element[] {
  return nodes.filter(isElement).flatMap((node) => {
    const inside = headingsIn(node.childNodes);
    return /^h[1-6]$/.test(node.tagName) ? [node, ...inside] : inside;
  });
}

/** Returns the letters and digits of any script, in lower case, with hyphens between words. */
function slugOf(text: string): string {
  const words = text
    .slice(0, longestSlug)
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu);
  return words?.join('-') ?? '';
}

const longestSlug = 60;
