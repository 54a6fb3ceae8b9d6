import MarkdownIt, { type StateBlock, type Token } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import alerts from 'markdown-it-github-alerts';
import { isError } from '../../lib/errors.ts';
import { createHtmlError, serialiseHtml } from './html-tree.ts';
import { type Heading, layOutPage, type PageLayout } from './page-layout.ts';
import { sanitiseHtml } from './sanitise-html.ts';

/** Untrusted Markdown, and the images that it may show. */
export interface MarkdownSource extends PageLayout {
  readonly text: string;
}

/** A rendered text; null if rendering takes too long or exceeds a limit, so that the text is shown unformatted. */
export type Html = string | null;

/** A text as HTML, and its headings from top to bottom. */
export interface RenderedText {
  readonly html: Html;
  readonly headings: readonly Heading[];
}

/**
 * Renders untrusted Markdown, including its HTML, to HTML that is safe to insert into a page: only allowed tags, cached images,
 * and links to the web, to mail and to headings of the text; headings are below the page's `h1`. A hostile text may take long.
 */
export function renderMarkdown({ text, name, images }: MarkdownSource): RenderedText {
  try {
    const tree = sanitiseHtml(markdown.render(text));
    const headings = layOutPage(tree, { name, images });
    return { html: serialiseHtml(tree), headings };
  } catch (error) {
    if (isError(error, 'html-too-large')) return { html: null, headings: [] };
    throw error;
  }
}

const markdown = new MarkdownIt({ html: true, linkify: true, breaks: true });

markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
// Git hosts also make links of names with www. in a README. A name without it may be a file.
markdown.linkify.add('www.', {
  validate: (text, at, self) => {
    if (text[at - 'www.'.length - 1] === '.') return 0;
    const rest = `//${text.slice(at - 'www.'.length, at + addressLength)}`;
    return Math.max(self.testSchemaAt(rest, 'http:', 0) - '//www.'.length, 0);
  },
  normalize: (match) => void (match.url = `http://${match.url}`),
});
// On GitHub, an alert with more text in its first line is a plain quote.
const alert = '(?:tip|note|important|warning|caution)(?=\\][ \\t]*(?:\\n|$))';
markdown
  .use(alerts, { icons: {}, markers: [alert] })
  .use(footnotes)
  .inline.ruler.disable('footnote_inline');
// The sanitiser decides which addresses stay. If it drops one, the text stays, not the Markdown source.
markdown.validateLink = () => true;

// In a table, each row gets a cell for each column of the header, however short the row is.
markdown.block.State = class extends markdown.block.State {
  override push(...parts: Parameters<StateBlock['push']>): Token {
    if (this.tokens.length > maxTokens) throw createHtmlError();
    return super.push(...parts);
  }
};
const maxTokens = 50_000;

const addressLength = 2000;

// markdown-it aligns columns with inline styles; here they get `align`, as in HTML.
const { rules } = markdown.renderer;
for (const name of ['th_open', 'td_open'] as const) {
  rules[name] = (tokens, i, options, _environment, self) => {
    const token = tokens[i];
    const alignment = /(left|center|right)/.exec(String(token?.attrGet('style')))?.[1];
    if (token) token.attrs = alignment === undefined ? null : [['align', alignment]];
    return self.renderToken(tokens, i, options);
  };
}
