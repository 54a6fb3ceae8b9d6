import { nameToEmoji } from 'gemoji';
import type { LanguageFn } from 'highlight.js';
import highlighter from 'highlight.js/lib/core';
import { type ImagePlace, toVariantPath } from '../../images/store.ts';
import { parseUrl } from '../../lib/network.ts';
import { toSlug } from '../../lib/text.ts';
import * as dom from './html-tree.ts';
import { toFootnoteId } from './sanitise-html.ts';

export interface PageLayout {
  /** The name of the bot. A first heading that only repeats it is removed. */
  readonly name: string;
  /** Address of the original → our copy. Only these images are shown. */
  readonly images: Readonly<Record<string, ImagePlace>>;
}

/** A heading of a text, with the id for links. */
export interface Heading {
  readonly id: string;
  readonly text: string;
  /** 2 to 6; the highest headings are `h2`. */
  readonly level: number;
}

/**
 * Prepares a sanitised tree for the bot page: headings below the page's own, with ids for links within the page, other
 * links with `nofollow`, cached copies of images, classes for alignment, scrolling tables and code, emoji in place of their
 * names. Returns the headings with an id.
 */
export function layOutPage(tree: dom.Fragment, { name, images }: PageLayout): Heading[] {
  dropTitle(tree, name);
  lowerHeadings(tree);
  tree.childNodes = layOut(tree.childNodes, {
    images,
    highlight: createCodeHighlighter(),
    inLink: false,
    inCode: false,
  });
  const headings = nameHeadings(tree);
  linkHeadings(tree, name, headings);
  return headings;
}

interface Place {
  readonly images: PageLayout['images'];
  readonly highlight: ReturnType<typeof createCodeHighlighter>;
  readonly inLink: boolean;
  readonly inCode: boolean;
}

function dropTitle(tree: dom.Fragment, name: string): void {
  const first = tree.childNodes.findIndex((node) => !dom.isText(node) || node.value.trim() !== '');
  const title = tree.childNodes[first];
  if (dom.isElement(title) && title.tagName === 'h1' && dom.textOf(title).trim() === name.trim()) {
    tree.childNodes = tree.childNodes.slice(first + 1);
    const [next] = tree.childNodes;
    if (dom.isText(next)) next.value = next.value.trimStart();
  }
}

/** Makes the highest heading an `h2`, below the page's `h1`, and every heading at most one level below the one before it. */
function lowerHeadings(tree: dom.Fragment): void {
  const headings = listHeadings(tree.childNodes);
  const levels = headings.map(({ tagName }) => Number(tagName.slice(1)));
  const highest = Math.min(...levels);
  let before = 1;
  headings.forEach((heading, i) => {
    before = Math.min((levels[i] ?? 1) - highest + 2, before + 1, 6);
    heading.tagName = heading.nodeName = `h${before}`;
  });
}

/** The beginning of a heading's id. Other ids of the page do not begin with it, and slugs have no dot. */
const prefix = 'page-';

/** Sets the id of each heading from its text, and returns the headings with an id. */
function nameHeadings(tree: dom.Fragment): Heading[] {
  const used = new Map<string, number>();
  return listHeadings(tree.childNodes).flatMap((node) => {
    const text = dom.textOf(node).trim();
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
function listHeadings(nodes: readonly dom.Node[]): dom.Element[] {
  return nodes.filter(dom.isElement).flatMap((node) => {
    const inside = listHeadings(node.childNodes);
    return /^h[1-6]$/.test(node.tagName) ? [node, ...inside] : inside;
  });
}

/**
 * Points each link within the page to its heading, by the slug that Git hosts make of a heading. Some hosts join
 * hyphens, so both forms are found. A link to the title or the top leads to the top. A link without a target is replaced by its content.
 */
function linkHeadings(tree: dom.Fragment, title: string, headings: readonly Heading[]): void {
  const ids = new Map<string, string>();
  for (const { id } of headings.toReversed()) ids.set(joinHyphens(id), id).set(id, id);
  const targetOf = (fragment: string): string | undefined => {
    const slug = toSlug(decodeFragment(fragment));
    const [, first = slug, number = '0'] = /^(.+)-(\d{1,5})$/.exec(slug) ?? [];
    const wanted = [`${prefix}${slug}`, `${prefix}${first}.${Number(number) + 1}`];
    const id = [...wanted, ...wanted.map(joinHyphens)].flatMap((known) => ids.get(known) ?? [])[0];
    return id ?? (['', 'top', toSlug(title)].includes(slug) ? 'top' : undefined);
  };
  const linked = (nodes: readonly dom.Node[]): dom.Node[] =>
    nodes.flatMap((node) => {
      if (!dom.isElement(node)) return [node];
      node.childNodes = linked(node.childNodes);
      const { href = '', title: hint, id } = dom.readAttributes(node);
      if (node.tagName !== 'a' || !href.startsWith('#')) return [node];
      const target = targetOf(href.slice(1)) ?? toFootnoteId(href.slice(1));
      if (target === undefined) return node.childNodes;
      dom.setAttributes(node, { href: `#${target}`, title: hint, id });
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

function joinHyphens(slug: string): string {
  return slug.replace(/-+/g, '-');
}

function layOut(nodes: readonly dom.Node[], place: Place): dom.Node[] {
  return nodes.flatMap((node) => {
    if (dom.isElement(node)) return layOutElement(node, place);
    if (dom.isText(node) && !place.inCode) node.value = withEmoji(node.value);
    return [node];
  });
}

function layOutElement(node: dom.Element, place: Place): dom.Node[] {
  const { tagName } = node;
  if (tagName === 'img') return layOutImage(node, place);
  const inCode = place.inCode || ['code', 'kbd', 'pre', 'samp', 'tt'].includes(tagName);
  if (tagName === 'pre') highlightCode(node, place);
  const isTask = tagName === 'li' && drawTask(node);
  node.childNodes = layOut(node.childNodes, { ...place, inCode, inLink: place.inLink || tagName === 'a' });
  const { align, ...others } = dom.readAttributes(node);
  dom.setAttributes(node, {
    ...others,
    ...(align !== undefined && { class: alignmentClasses[align] }),
    ...(tagName === 'a' && { rel: 'nofollow ugc noopener' }),
    ...(tagName === 'code' && { class: undefined }),
    ...(isTask && { class: 'task' }),
    // Reachable with the keyboard, because it scrolls.
    ...(tagName === 'pre' && { tabindex: '0' }),
  });
  return [tagName === 'table' ? wrapInScroller(node) : node];
}

/**
 * Returns the cached copy of an image. Without a copy, returns a frame that links to the original, with the image's
 * text or else its host.
 */
function layOutImage(node: dom.Element, { images, inLink }: Place): dom.Node[] {
  const { src: url = '', alt = '', title, width, height, align = '' } = dom.readAttributes(node);
  const copy = Object.hasOwn(images, url) ? images[url] : undefined;
  if (copy !== undefined) {
    const classes = [(width ?? height) && 'sized', alignmentClasses[align]].filter(Boolean).join(' ');
    const size = chooseSize(Number(width ?? 0), Number(height ?? 0), copy);
    const attributes = { ...toImageSource(copy, size.width), alt, title, width: String(size.width) };
    const rest = { height: String(size.height), loading: 'lazy', class: classes || undefined };
    return [dom.createElement('img', { ...attributes, ...rest })];
  }
  const words = dom.createTextNode(alt.trim() || parseUrl(url)?.host || url);
  const link = inLink ? {} : { href: url, rel: 'nofollow ugc noopener' };
  return [dom.createElement(inLink ? 'span' : 'a', { class: 'no-picture', title, ...link }, [words])];
}

/** Draws the box of a task: `[ ]` or `[x]` at the start of a list item. */
function drawTask({ childNodes }: dom.Element): boolean {
  const first = childNodes.find((node) => !dom.isText(node) || node.value.trim() !== '');
  const text = dom.isElement(first) && first.tagName === 'p' ? first.childNodes[0] : first;
  if (!dom.isText(text) || !/^\s*\[[ xX]\]\s/.test(text.value)) return false;
  text.value = text.value.replace(/^\s*\[(.)\]\s/, (_, mark) => (mark === ' ' ? '☐ ' : '☑ '));
  return true;
}

/** Wraps a table so that it scrolls. A table wider than a phone is reachable with the keyboard, and labelled by its first row. */
function wrapInScroller(table: dom.Element): dom.Element {
  const rows = listRows(table.childNodes).map(({ childNodes }) =>
    childNodes.filter(dom.isElement).map((cell) => dom.textOf(cell).trim()),
  );
  const longest: number[] = [];
  for (const row of rows)
    for (const [i, text] of row.entries())
      longest[i] = Math.max(longest[i] ?? 0, ...text.split(/\s+/).map(({ length }) => length));
  const isWide = longest.reduce((sum, length) => sum + length + gapOfColumns, 0) > widthOfPhone;
  const [first = []] = rows;
  const name = first.join(', ').slice(0, maxNameLength);
  const reached = { tabindex: '0', role: 'group', 'aria-label': name || undefined };
  return dom.createElement('div', { class: 'table', ...(isWide && reached) }, [table]);
}

/** In characters: the width of a small screen, and the space between two columns. */
const widthOfPhone = 20;
const gapOfColumns = 2;

const maxNameLength = 100;

function listRows(nodes: readonly dom.Node[]): dom.Element[] {
  return nodes
    .filter(dom.isElement)
    .flatMap((node) =>
      node.tagName === 'tr' ? [node] : node.tagName === 'table' ? [] : listRows(node.childNodes),
    );
}

/** Returns the `src` of a copy, with a smaller one for small screens. @param shown the width on the page */
function toImageSource({ path, width, height }: ImagePlace, shown: number): dom.Attributes {
  // The smaller copy fits into a square, so an upright image's is narrower than the number in its name.
  if (width <= smallWidthPx || width < height) return { src: path };
  return {
    src: path,
    srcset: `${toVariantPath(path, smallWidthPx)} ${smallWidthPx}w, ${path} ${width}w`,
    sizes: `min(${Math.min(shown, widthOfPage)}px, 92vw)`,
  };
}

const smallWidthPx = 320;
const widthOfPage = 704;

/** Returns the author's size, or else that of the copy, so that nothing moves when the image loads. */
function chooseSize(width: number, height: number, copy: ImagePlace): { width: number; height: number } {
  if (width === 0 && height === 0) return copy;
  return {
    width: width || Math.max(1, Math.round((height * copy.width) / copy.height)),
    height: height || Math.max(1, Math.round((width * copy.height) / copy.width)),
  };
}

function highlightCode({ childNodes: [code] }: dom.Element, { highlight }: Place): void {
  if (!dom.isElement(code) || code.tagName !== 'code') return;
  const language = /^language-(.+)$/.exec(dom.readAttributes(code)['class'] ?? '')?.[1];
  const html = language === undefined ? undefined : highlight(dom.textOf(code), language);
  if (html !== undefined) code.childNodes = dom.parseHtml(html).childNodes;
}

/** The classes for the values of `align` in a sanitised tree. */
const alignmentClasses: dom.Attributes = { left: 'start', center: 'middle', right: 'end' };

/** Replaces names of emoji between colons, such as `:ok_hand:`. Other text between colons stays. */
function withEmoji(text: string): string {
  const [first = '', ...parts] = text.split(':');
  let result = first;
  for (let i = 0; i < parts.length; i++) {
    const [part = '', next] = [parts[i], parts[i + 1]];
    if (next !== undefined && Object.hasOwn(nameToEmoji, part)) {
      result += `${nameToEmoji[part]}${next}`;
      i += 1;
    } else {
      result += `:${part}`;
    }
  }
  return result;
}

/**
 * Returns a function that highlights the code blocks of one page as HTML with classes. It returns undefined for an
 * unknown language, or when the page has more code than the limit.
 */
function createCodeHighlighter(): (code: string, language: string) => string | undefined {
  let left = maxCodeLength;
  return (code, language) => {
    if (code.length > left || !highlighter.getLanguage(language)) return undefined;
    left -= code.length + costOfBlock;
    return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
  };
}

const maxCodeLength = 10_000;
/** Characters of the limit that a block takes in addition to its own, so that a page has about a hundred blocks at most. */
const costOfBlock = 100;

const languages =
  'bash csharp css diff go ini java javascript json php python ruby rust sql typescript xml yaml'.split(' ');
await Promise.all(
  languages.map(async (name) => {
    const language = (await import(`highlight.js/lib/languages/${name}`)) as { default: LanguageFn };
    highlighter.registerLanguage(name, language.default);
  }),
);
