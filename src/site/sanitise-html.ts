import {
  type Attributes,
  attribute,
  type Element,
  type Fragment,
  isElement,
  isHtml,
  isText,
  type Node,
  parseHtml,
  serialiseHtml,
  setAttributes,
  HtmlLimitError,
} from './html-tree.ts';

/**
 * Parses a stranger's HTML and keeps what is allowed: these tags with these attributes, no comments, nothing that
 * a browser would run, load or jump to. The tree is a fixed point: what it is written as comes back, in a browser,
 * as this very tree, so nothing left open can reach past its end.
 * @throws HtmlLimitError when it has more elements or deeper nesting than any page of a person's
 */
export function sanitiseHtml(html: string): Fragment {
  let text = html;
  for (let round = 0; round < mostRounds; round++) {
    const tree = parseHtml(text, mostElements);
    keepAllowed(tree, 0);
    const written = serialiseHtml(tree);
    if (written === text) return tree;
    text = written;
  }
  throw new HtmlLimitError();
}

/** Whether a link may lead there: to the web and to mail. */
export function isLinkable(url: string): boolean {
  return /^(https?:\/\/|mailto:)/i.test(url);
}

/** Markup that is right takes two rounds; what a browser nests otherwise than it was written takes a few more. */
const mostRounds = 5;
const mostElements = 10_000;
const deepest = 100;

/** The attributes that an element keeps; undefined where only its content stays. */
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
  ['code', (node) => ({ class: languageClass(node) })],
  ['details', (node) => ({ open: attribute(node, 'open') === undefined ? undefined : '' })],
  [
    'img',
    (node) => ({
      src: attribute(node, 'src')?.trim(),
      alt: attribute(node, 'alt'),
      title: attribute(node, 'title'),
      width: integer(node, 'width', 1, 1280),
      height: integer(node, 'height', 1, 1280),
      align: alignment(node),
    }),
  ],
  ['ol', (node) => ({ start: integer(node, 'start', 0, 999_999_999) })],
]);

/** What goes with all that it holds: it is not meant to be read, or not as HTML. Of any other tag the content stays. */
const unread = new Set(
  'applet audio canvas datalist embed iframe map noembed noframes noscript object plaintext script select style template textarea title video xmp'.split(
    ' ',
  ),
);

function keepAllowed(parent: Fragment | Element, depth: number): void {
  if (depth > deepest) throw new HtmlLimitError();
  parent.childNodes = parent.childNodes.flatMap((node) => kept(node, depth));
}

function kept(node: Node, depth: number): Node[] {
  if (isText(node)) return [node];
  if (!isElement(node) || !isHtml(node) || unread.has(node.tagName)) return [];
  keepAllowed(node, depth + 1);
  if (node.tagName === 'center') {
    node.tagName = node.nodeName = 'div';
    setAttributes(node, { align: 'center' });
    return [node];
  }
  const attributes = allowed.get(node.tagName)?.(node);
  if (attributes === undefined) return node.childNodes;
  setAttributes(node, attributes);
  if (node.tagName === 'pre') dropFirstLineEnds(node);
  return [node];
}

/** The first line end in a `pre` is lost whenever it is parsed. */
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
