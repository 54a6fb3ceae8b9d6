import { type DefaultTreeAdapterTypes, html as standard, parse, parseFragment, serialize } from 'parse5';
import { renderMarkdown } from '../../src/site/markdown/markdown-renderer.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** The address of a picture that there is a copy of. */
export const picture = 'https://example.org/a.png';
const copy = '/appdata/a.webp';
/** Renders a page of a stranger's. */
export const render = (text: string): string | null =>
  renderMarkdown({ text, name: 'Homer', images: { [picture]: { path: copy, width: 640, height: 320 } } })
    .html;

/** Every attribute that a page of a stranger's may have in the end, with all values that are possible. */
const attributes: Readonly<Record<string, RegExp>> = {
  'a href': /^(https?:\/\/|mailto:|#(?:page-|top$))/i,
  'a rel': /^nofollow ugc noopener$/,
  'a title': /^/,
  'abbr title': /^/,
  'img title': /^/,
  'img alt': /^/,
  'img src': /^\/appdata\/a\.webp$/,
  'img srcset': /^\/appdata\/a\.320\.webp 320w, \/appdata\/a\.webp 640w$/,
  'img sizes': /^min\(\d{1,3}px, 92vw\)$/,
  'img width': /^\d{1,4}$/,
  'img height': /^\d{1,4}$/,
  'img loading': /^lazy$/,
  'img class': /^(sized )?(start|middle|end)$|^sized$/,
  'details open': /^$/,
  'ol start': /^\d{1,9}$/,
  'td colspan': /^\d{1,3}$/,
  'td rowspan': /^\d{1,3}$/,
  'th colspan': /^\d{1,3}$/,
  'th rowspan': /^\d{1,3}$/,
  'pre tabindex': /^0$/,
  'span class': /^(?:hljs-[\w -]+|language-[a-z]+|no-picture)$/,
  'div class': /^(table|start|middle|end)$/,
  'div tabindex': /^0$/,
  'div role': /^group$/,
  'div aria-label': /^/,
  'a class': /^no-picture$/,
  'span title': /^/,
  'li class': /^task$/,
  ...Object.fromEntries(
    'h2 h3 h4 h5 h6'.split(' ').map((tag) => [`${tag} id`, /^page-[\p{L}\p{M}\p{N}.-]+$/u]),
  ),
  ...Object.fromEntries(
    'caption h2 h3 h4 h5 h6 p table td th tr'
      .split(' ')
      .map((tag) => [`${tag} class`, /^(start|middle|end)$/]),
  ),
};
const tags = new Set(
  'a abbr b bdi blockquote br caption cite code dd del details dfn div dl dt em h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var wbr'.split(
    ' ',
  ),
);

/** Returns the parts of the HTML that a browser must not find, or that leave their place. */
export function wrongs(html: string): string[] {
  const found: string[] = [];
  const look = (node: Node): void => {
    if (node.nodeName === '#text' || node.nodeName === '#document-fragment') {
      for (const child of 'childNodes' in node ? node.childNodes : []) look(child);
      return;
    }
    if (!('tagName' in node)) {
      found.push(node.nodeName);
      return;
    }
    if (!tags.has(node.tagName) || node.namespaceURI !== standard.NS.HTML) found.push(node.tagName);
    for (const { name, value } of node.attrs) {
      if (attributes[`${node.tagName} ${name}`]?.test(value) !== true)
        found.push(`${node.tagName} ${name}=${value}`);
    }
    for (const child of node.childNodes) look(child);
  };
  const inside = body(parse(`<!doctype html><body><div class="prose">${html}</div><footer></footer>`));
  const [prose, ...behind] = inside.childNodes;
  if (prose) for (const child of (prose as Element).childNodes) look(child);
  if (behind.map(({ nodeName }) => nodeName).join() !== 'footer')
    found.push('what is behind it is not in its place');
  const context = parseFragment('<div></div>').childNodes[0] as Element;
  if (serialize(parseFragment(context, html, {})) !== html) found.push('a browser nests it otherwise');
  return found;
}

function body(document: DefaultTreeAdapterTypes.Document): Element {
  const html = document.childNodes.find(({ nodeName }) => nodeName === 'html') as Element;
  return html.childNodes.find(({ nodeName }) => nodeName === 'body') as Element;
}
