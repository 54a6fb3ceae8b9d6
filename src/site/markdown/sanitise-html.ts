import * as dom from './html-tree.ts';

/**
 * Parses untrusted HTML and keeps only allowed tags and attributes: no comments, nothing that a browser would run or
 * load, no ids except for those of footnotes. The tree is a fixed point: a browser that parses its serialised form
 * gets the same tree, so no open element can reach past its end.
 * @throws {BotshelfError} html-too-large, for more elements or deeper nesting than any page of a person has
 */
export function sanitiseHtml(html: string): dom.Fragment {
  let text = html;
  for (let round = 0; round < maxRounds; round++) {
    const tree = dom.parseHtml(text, maxElements);
    tree.childNodes = wrapListItems(sanitiseChildren(tree, 0), '');
    const written = dom.serialiseHtml(tree);
    if (written === text) return tree;
    text = written;
  }
  throw dom.createHtmlError();
}

/** Returns the id of a footnote, or of a reference to it, as markdown-it-footnote writes it. */
export function toFootnoteId(id = ''): string | undefined {
  return /^fn(?:ref)?\d{1,4}(?::\d{1,4})?$/.test(id) ? id : undefined;
}

/** Whether links to this address are allowed: to the web, to mail and within the page. */
function isLinkable(url: string): boolean {
  return /^(https?:\/\/|mailto:|#)/i.test(url);
}

/** Valid markup takes two rounds; markup that a browser nests differently takes a few more. */
const maxRounds = 5;
const maxElements = 10_000;
const maxDepth = 100;

/** Returns the attributes that an element keeps; undefined to keep only its content. */
type Rule = (attributes: dom.Attributes) => dom.Attributes | undefined;

const bare: Rule = () => ({});
const aligned: Rule = ({ align }) => ({ align: toAlignment(align) });
const cell: Rule = ({ align, colspan, rowspan }) => ({
  align: toAlignment(align),
  colspan: toInteger(colspan, 1, 100),
  rowspan: toInteger(rowspan, 1, 100),
});

const textTags =
  'b bdi br cite code del dfn em i ins kbd mark q rp rt ruby s samp small span strike strong sub sup tt u var wbr';
const blockTags = 'blockquote dd dl dt hr pre summary tbody tfoot thead ul';
const alignedTags = 'caption h1 h2 h3 h4 h5 h6 p table tr';

/** The allowed tags, each with the rule for its attributes. */
const allowed = new Map<string, Rule>([
  ...createRules(`${textTags} ${blockTags}`, bare),
  ...createRules(alignedTags, aligned),
  ...createRules('td th', cell),
  [
    'a',
    ({ href = '', title, id }) =>
      isLinkable(href.trim()) ? { href: href.trim(), title, id: toFootnoteId(id) } : undefined,
  ],
  ['abbr', ({ title }) => ({ title })],
  ['center', () => ({ align: 'center' })],
  ['code', ({ class: name = '' }) => ({ class: /^language-\S+$/.test(name) ? name : undefined })],
  ['div', ({ align, class: name = '' }) => ({ align: toAlignment(align), class: toAlert(name) })],
  ['details', ({ open }) => ({ open: open === undefined ? undefined : '' })],
  ['img', keepImage],
  ['li', ({ id }) => ({ id: toFootnoteId(id) })],
  ['ol', ({ start }) => ({ start: toInteger(start, 0, 999_999_999) })],
]);

function keepImage(own: dom.Attributes): dom.Attributes | undefined {
  const { src = '', alt, title, width, height, align } = own;
  const url = src.trim();
  if (!isLinkable(url) || url.startsWith('#')) return undefined;
  const size = { width: toInteger(width, 1, 1280), height: toInteger(height, 1, 1280) };
  return { src: url, alt, title, ...size, align: toAlignment(align) };
}

/** Tags that are removed with their content, because it is not text for readers or not HTML. Of other tags, the content stays. */
const tagsWithoutText = new Set(
  'applet audio canvas datalist embed iframe map noembed noframes noscript object plaintext script select style template textarea title video xmp'.split(
    ' ',
  ),
);

/** Elements that need text. Without it, links and headings exist only for screen readers, and the others are gaps. */
const mustNotBeEmpty = new Set(['a', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'table']);

function sanitiseChildren({ childNodes }: dom.Fragment | dom.Element, depth: number): dom.Node[] {
  if (depth > maxDepth) throw dom.createHtmlError();
  return childNodes.flatMap((node) => sanitiseNode(node, depth));
}

function sanitiseNode(node: dom.Node, depth: number): dom.Node[] {
  if (dom.isText(node)) return [node];
  if (!dom.isElement(node) || !dom.isHtml(node) || tagsWithoutText.has(node.tagName)) return [];
  const children = sanitiseChildren(node, depth + 1);
  const own = dom.readAttributes(node);
  const attributes = allowed.get(node.tagName)?.(own);
  if (attributes === undefined) {
    // The text of an image replaces it.
    return node.tagName === 'img' && own['alt'] ? [dom.createTextNode(own['alt'])] : children;
  }
  if (mustNotBeEmpty.has(node.tagName) && children.every(isEmpty))
    return node.tagName === 'table' ? [] : children;
  dom.setAttributes(node, attributes);
  if (node.tagName === 'center') node.tagName = node.nodeName = 'div';
  node.childNodes = wrapListItems(children, node.tagName);
  if (node.tagName === 'pre') dropFirstLineEnds(node);
  return [node];
}

function isEmpty(node: dom.Node): boolean {
  if (dom.isText(node)) return node.value.trim() === '';
  return dom.isElement(node) && node.tagName !== 'img' && node.childNodes.every(isEmpty);
}

/** Wraps list items in a list if their parent is not one. */
function wrapListItems(children: readonly dom.Node[], parent: string): dom.Node[] {
  const result: dom.Node[] = [];
  let list: dom.Element | undefined;
  for (const node of children) {
    const lists = dom.isElement(node) ? (listsOf[node.tagName] ?? []) : [];
    if (dom.isElement(node) && lists[0] !== undefined && !lists.includes(parent)) {
      if (list?.tagName !== lists[0]) {
        list = dom.createElement(lists[0], {});
        result.push(list);
      }
      list.childNodes.push(node);
    } else {
      if (!dom.isText(node) || node.value.trim() !== '') list = undefined;
      result.push(node);
    }
  }
  return result;
}

const listsOf: Readonly<Record<string, readonly string[] | undefined>> = {
  li: ['ul', 'ol'],
  dt: ['dl'],
  dd: ['dl'],
};

/** Removes line ends at the start of a `pre`, because each parse would remove the first. */
function dropFirstLineEnds({ childNodes: [first] }: dom.Element): void {
  if (dom.isText(first)) first.value = first.value.replace(/^[\r\n]+/, '');
}

/** Returns the classes of an alert, as markdown-it-github-alerts writes them. */
function toAlert(name: string): string | undefined {
  return /^markdown-alert markdown-alert-(?:note|tip|important|warning|caution)$/.test(name)
    ? name
    : undefined;
}

function toAlignment(align: string | undefined): string | undefined {
  const value = align?.toLowerCase() ?? '';
  return ['left', 'center', 'right'].includes(value) ? value : undefined;
}

function toInteger(text = '', min: number, max: number): string | undefined {
  const value = /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : NaN;
  return value >= min && value <= max ? String(value) : undefined;
}

function createRules(names: string, rule: Rule): [string, Rule][] {
  return names.split(' ').map((name) => [name, rule]);
}
