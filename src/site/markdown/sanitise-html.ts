import {
  type Attributes,
  attribute,
  element,
  type Element,
  type Fragment,
  isElement,
  isHtml,
  isText,
  type Node,
  parseHtml,
  serialiseHtml,
  setAttributes,
  textNode,
  HtmlLimitError,
} from './html-tree.ts';

/**
 * Parses untrusted HTML and keeps what is allowed: these tags with these attributes, no comments, nothing that a browser
 * would run or load, no ids. The tree is a fixed point: a browser that parses its serialised form gets the same tree, so
 * no open element can reach past its end.
 * @throws {HtmlLimitError} for more elements or deeper nesting than any page by a person has
 */
export function sanitiseHtml(html: string): Fragment {
  let text = html;
  for (let round = 0; round < mostRounds; round++) {
    const tree = parseHtml(text, mostElements);
    tree.childNodes = inLists(keptOf(tree, 0), '');
    const written = serialiseHtml(tree);
    if (written === text) return tree;
    text = written;
  }
  throw new HtmlLimitError();
}

/** Whether a link to this address is allowed: to the web, to mail and within the page. */
export function isLinkable(url: string): boolean {
  return /^(https?:\/\/|mailto:|#)/i.test(url);
}

/** Valid markup takes two rounds; markup that a browser nests differently from how it is written takes a few more. */
const mostRounds = 5;
const mostElements = 10_000;
const deepest = 100;

/** Returns the attributes that an element keeps; undefined where only its content stays. */
type Rule = (node: Element) => Attributes | undefined;

const bare: Rule = () => ({});
const titled: Rule = (node) => ({ title: attribute(node, 'title') });
const aligned: Rule = (node) => ({ align: alignment(node) });
const cell: Rule = (node) => ({
  align: alignment(node),
  colspan: integer(node, 'colspan', 1, 100),
  rowspan: integer(node, 'rowspan', 1, 100),
});

const textTags =
  'b bdi br cite code del dfn em i ins kbd mark q rp rt ruby s samp small span strike strong sub sup tt u var wbr';
const blockTags = 'blockquote dd dl dt hr li pre summary tbody tfoot thead ul';
const alignedTags = 'caption div h1 h2 h3 h4 h5 h6 p table tr';

/** The tags that may stay, and which attributes stay with them. */
const allowed = new Map<string, Rule>([
  ...tags(`${textTags} ${blockTags}`, bare),
  ...tags(alignedTags, aligned),
  ...tags('td th', cell),
  [
    'a',
    (node) => {
      const href = attribute(node, 'href')?.trim() ?? '';
      return isLinkable(href) ? { href, title: attribute(node, 'title') } : undefined;
    },
  ],
  ['abbr', titled],
  ['center', () => ({ align: 'center' })],
  ['code', (node) => ({ class: languageClass(node) })],
  ['details', (node) => ({ open: attribute(node, 'open') === undefined ? undefined : '' })],
  [
    'img',
    (node) => {
      const src = attribute(node, 'src')?.trim() ?? '';
      return !isLinkable(src) || src.startsWith('#')
        ? undefined
        : {
            src,
            alt: attribute(node, 'alt'),
            title: attribute(node, 'title'),
            width: integer(node, 'width', 1, 1280),
            height: integer(node, 'height', 1, 1280),
            align: alignment(node),
          };
    },
  ],
  ['ol', (node) => ({ start: integer(node, 'start', 0, 999_999_999) })],
]);

/** What goes with all that it holds: it is not meant to be read, or not as HTML. Of any other tag the content stays. */
const unread = new Set(
  'applet audio canvas datalist embed iframe map noembed noframes noscript object plaintext script select style template textarea title video xmp'.split(
    ' ',
  ),
);

/** Without words in it a link or heading is there only for those who hear the page, anything else only as a gap. */
const mustHold = new Set(['a', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'table']);

function keptOf({ childNodes }: Fragment | Element, depth: number): Node[] {
  if (depth > deepest) throw new HtmlLimitError();
  return childNodes.flatMap((node) => kept(node, depth));
}

function kept(node: Node, depth: number): Node[] {
  if (isText(node)) return [node];
  if (!isElement(node) || !isHtml(node) || unread.has(node.tagName)) return [];
  const children = keptOf(node, depth + 1);
  const attributes = allowed.get(node.tagName)?.(node);
  if (attributes === undefined) return node.tagName === 'img' ? alternative(node) : children;
  if (mustHold.has(node.tagName) && children.every(isEmpty)) return node.tagName === 'table' ? [] : children;
  setAttributes(node, attributes);
  if (node.tagName === 'center') node.tagName = node.nodeName = 'div';
  node.childNodes = inLists(children, node.tagName);
  if (node.tagName === 'pre') dropFirstLineEnds(node);
  return [node];
}

/** Returns the text that replaces an image. */
function alternative(picture: Element): Node[] {
  const alt = attribute(picture, 'alt') ?? '';
  return alt === '' ? [] : [textNode(alt)];
}

function isEmpty(node: Node): boolean {
  if (isText(node)) return node.value.trim() === '';
  return isElement(node) && node.tagName !== 'img' && node.childNodes.every(isEmpty);
}

/** Wraps list items in a list, where their parent is not one. */
function inLists(children: readonly Node[], parent: string): Node[] {
  const result: Node[] = [];
  let list: Element | undefined;
  for (const node of children) {
    const lists = isElement(node) ? (listsOf[node.tagName] ?? []) : [];
    if (isElement(node) && lists[0] !== undefined && !lists.includes(parent)) {
      if (list?.tagName !== lists[0]) {
        list = element(lists[0], {});
        result.push(list);
      }
      list.childNodes.push(node);
    } else {
      if (!isText(node) || node.value.trim() !== '') list = undefined;
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

/** Removes line ends at the start of a `pre`, as each parse would remove the first. */
function dropFirstLineEnds({ childNodes: [first] }: Element): void {
  if (isText(first)) first.value = first.value.replace(/^[\r\n]+/, '');
}

function alignment(node: Element): string | undefined {
  const value = attribute(node, 'align')?.toLowerCase();
  return value !== undefined && ['left', 'center', 'right'].includes(value) ? value : undefined;
}

function languageClass(node: Element): string | undefined {
  return /^language-\S+$/.test(attribute(node, 'class') ?? '') ? attribute(node, 'class') : undefined;
}

function integer(node: Element, name: string, least: number, most: number): string | undefined {
  const value = attribute(node, name)?.trim() ?? '';
  return /^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most
    ? String(Number(value))
    : undefined;
}

function tags(names: string, rule: Rule): [string, Rule][] {
  return names.split(' ').map((name) => [name, rule]);
}
