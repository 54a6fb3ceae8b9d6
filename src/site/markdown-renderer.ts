import bash from 'highlight.js/lib/languages/bash';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import highlighter from 'highlight.js/lib/core';
import MarkdownIt from 'markdown-it';

/** A stranger's markdown, and what it may show. */
export interface MarkdownSource {
  readonly text: string;
  /** The name of the bot: a first heading that only repeats it is left out. */
  readonly name: string;
  /** Address of a picture → path of our own copy. No other picture is shown. */
  readonly pictures: Readonly<Record<string, string>>;
}

/**
 * Renders a stranger's markdown to HTML that is safe to put into a page: no HTML of theirs, links to the web
 * and to mail only, pictures of ours only, headings below the page's `h1`. May take long for a hostile text.
 */
export function renderMarkdown({ text, name, pictures }: MarkdownSource): string {
  const environment = { pictures };
  const tokens = markdown.parse(text, environment);
  const [open, title] = tokens;
  const repeats = open?.type === 'heading_open' && open.tag === 'h1' && title?.content.trim() === name.trim();
  const shown = repeats ? tokens.slice(3) : tokens;
  lowerHeadings(shown);
  return markdown.renderer.render(shown, markdown.options, environment);
}

/** The highest heading becomes an `h2`, as the page has its `h1`, and none is more than one below that before it. */
function lowerHeadings(tokens: readonly { readonly type: string; tag: string }[]): void {
  const headings = tokens.filter(({ type }) => type === 'heading_open' || type === 'heading_close');
  const levels = headings.map(({ tag }) => Number(tag.slice(1)));
  const highest = Math.min(...levels);
  let before = 1;
  headings.forEach((token, i) => {
    const level = Math.min(
      (levels[i] ?? 1) - highest + 2,
      token.type === 'heading_open' ? before + 1 : before,
    );
    token.tag = `h${Math.min(level, 6)}`;
    before = level;
  });
}

const languages = {
  bash,
  csharp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  php,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);

const markdown = new MarkdownIt({
  html: false,
  linkify: true,
  highlight: (code, language) =>
    code.length <= longestCode && highlighter.getLanguage(language)
      ? highlighter.highlight(code, { language, ignoreIllegals: true }).value
      : '',
});

const longestCode = 10_000;

markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
markdown.validateLink = (url) => /^(https?:\/\/|mailto:)/i.test(url);

const { rules } = markdown.renderer;
const plain: Rule = (tokens, i, options, _environment, self) => self.renderToken(tokens, i, options);
type Rule = NonNullable<(typeof rules)[string]>;

rules['link_open'] = (tokens, i, options, environment, self) => {
  tokens[i]?.attrSet('rel', 'nofollow ugc noopener');
  return plain(tokens, i, options, environment, self);
};

rules['image'] = (tokens, i, options, environment = {}, self) => {
  const token = tokens[i];
  const url = String(token?.attrGet('src') ?? '');
  const { pictures = {} } = environment as Partial<MarkdownSource>;
  const alt = markdown.utils.escapeHtml(self.renderInlineAsText(token?.children ?? [], options, environment));
  const copy = Object.hasOwn(pictures, url) ? pictures[url] : undefined;
  if (copy !== undefined) {
    return `<img src="${markdown.utils.escapeHtml(copy)}" alt="${alt}" width="640" height="360" loading="lazy">`;
  }
  const address = markdown.utils.escapeHtml(url);
  return insideLink(tokens.slice(0, i))
    ? alt
    : `<a href="${address}" rel="nofollow ugc noopener">${alt === '' ? address : alt}</a>`;
};

// What scrolls is reached with the keyboard.
for (const name of ['fence', 'code_block'] as const) {
  const render = rules[name];
  rules[name] = (...parts) => (render?.(...parts) ?? '').replace(/^<pre/, '<pre tabindex="0"');
}

rules['table_open'] = () => '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n';
rules['table_close'] = () => '</table></div>\n';

// Columns are aligned by markdown-it with inline styles, which our policy forbids.
for (const name of ['th_open', 'td_open'] as const) {
  rules[name] = (tokens, i, options, environment, self) => {
    const token = tokens[i];
    const alignment = /(center|right)/.exec(String(token?.attrGet('style')))?.[1];
    if (token)
      token.attrs = alignment === undefined ? null : [['class', alignment === 'center' ? 'middle' : 'end']];
    return plain(tokens, i, options, environment, self);
  };
}

function insideLink(before: readonly { readonly type: string }[]): boolean {
  const last = before.findLast(({ type }) => type === 'link_open' || type === 'link_close');
  return last?.type === 'link_open';
}
