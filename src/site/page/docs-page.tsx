import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Fragment, type VNode } from 'preact';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { createDocument, send, type Document } from '../../http/representation.ts';
import { toSlug } from '../../lib/text.ts';
import type { RenderedText } from '../markdown/markdown-renderer.ts';
import { notRendered, RenderThread } from '../markdown/markdown.ts';
import { CopyButton, LinkItem, NameLink, Prose } from './elements.tsx';
import type { AddPage } from './html-response.ts';
import { Layout } from './layout.tsx';
import { usePage, type PageParts } from './page-context.tsx';

/** The documents that are also pages: path → group, name and file. The first file has several pages. */
const files = {
  '/docs': ['Start', 'The API', 'docs/api.md'],
  '/docs/post': ['Start', 'Post', 'docs/api.md'],
  '/docs/bots': ['Routes', 'Bots', 'docs/api.md'],
  '/docs/lists': ['Routes', 'Lists', 'docs/api.md'],
  '/docs/errors': ['More', 'Errors', 'docs/api.md'],
  '/docs/javascript': ['More', 'JavaScript client', 'clients/typescript/README.md'],
  '/docs/python': ['More', 'Python client', 'clients/python/README.md'],
  '/docs/consumers': ['More', 'Programs that read', 'docs/consumers.md'],
  '/docs/changelog': ['More', 'Changes', 'CHANGELOG.md'],
} as const;

type DocsPath = keyof typeof files;
export const docsPaths = Object.keys(files) as readonly DocsPath[];

/** Adds the documents, each as Markdown too. Concurrent requests for one share its rendering, which takes a thread. */
export function addDocsPages(addPage: AddPage, { site, lists, cache }: PageParts): void {
  for (const path of docsPaths) {
    const render = async (): Promise<VNode> => {
      const example = await findExample(lists);
      const make = async (): Promise<RenderedText> => await renderGuide(path, site.canonicalUrl, example);
      const rendered = await cache
        .get(`guide ${path} ${example?.id}`, make, { isExact: true })
        .catch(() => notRendered);
      return <DocsPage {...rendered} {...{ path, example }} />;
    };
    addPage(path, () => ({ key: { page: path }, render }));
    addPage(`${path}.md`, async (ctx) => {
      const create = async (): Promise<Document> => {
        const [title = ''] = titleLine.exec(documents[path]) ?? [];
        const text = title + readGuide(path, site.canonicalUrl, await findExample(lists));
        return createDocument('text/markdown; charset=utf-8', Buffer.from(text));
      };
      await send(ctx, await cache.get(`docs ${path}`, create));
      return undefined;
    });
  }
}

const documents = Object.fromEntries(docsPaths.map((path) => [path, readDocument(path)])) as Readonly<
  Record<DocsPath, string>
>;

/** Returns the text of a page. Some parts of the first file are separate pages, to which the first page links. */
function readDocument(path: DocsPath): string {
  const text = readFileSync(new URL(files[path][2], import.meta.resolve('#package')), 'utf8');
  if (files[path][2] !== files['/docs'][2]) return text;
  const [routes = '', errors = ''] = ['routes', 'errors'].map(
    (part) => text.split(`\n<!-- ${part} -->`)[1]?.split('<!-- end -->')[0],
  );
  const [post = ''] = /^## Post\n[^]*?(?=^## )/m.exec(text) ?? [];
  const opened = routes
    .replaceAll(/<details>\n<summary>(<code>.+<\/code>)<\/summary>|<\/details>\n/g, (_, route = '') => route)
    .split(/^(?=### )/m);
  if (path === '/docs/post') return post.slice(1);
  if (path === '/docs/bots') return `# Routes of bots\n\n${opened.filter(isOfBots).join('')}`;
  if (path === '/docs/lists')
    return `# Other routes\n\n${opened.filter((route) => !isOfBots(route)).join('')}`;
  if (path === '/docs/errors') return `# Examples of errors\n\n${errors}`;
  const rows = [...routes.matchAll(/^### (.+)\n\n<details>\n<summary><code>(\w+) (.+)<\/code>/gm)].map(
    ([, title = '', method = '', route = '']) =>
      `| **${method}** \`${route}\` | [${title}](#${toSlug(title)}) |\n`,
  );
  return text
    .replace(post, '')
    .replace(routes, () => `\n| Request | Purpose |\n| --- | --- |\n${rows.join('')}\n`)
    .replace(errors, () => '\n\n[Examples of errors](#examples-of-errors).\n\n')
    .replaceAll(/^<!--.*-->\n/gm, '');
}

function isOfBots(route: string): boolean {
  return /^<code>\w+ \/api\/v2\/bots/m.test(route);
}

/**
 * Renders a document in a separate thread, so that pages of bots do not wait for it and it may take more time.
 * @param example the bot that the document names; by default that of the sample catalogue
 * @throws {Error} if it takes too long, as on a busy machine
 */
export async function renderGuide(
  path: DocsPath,
  baseUrl: string,
  example?: IndexedBot,
): Promise<RenderedText> {
  const thread = new RenderThread(maxRenderMs, 0);
  try {
    const text = readGuide(path, baseUrl, example);
    const { html, headings } = await thread.render({ text, name: '', images: {} });
    if (html === null) throw new Error(`${path} could not be rendered in ${maxRenderMs / 1000} s`);
    return { html: boxCode(html), headings };
  } finally {
    await thread.close();
  }
}

const maxRenderMs = 30_000;

/** Puts each code into a box. Its title is the short line before it, or else the heading above. */
function boxCode(html: string): string {
  const lines: string[] = [];
  let heading = '';
  for (const line of html.split('\n')) {
    heading = /^<h\d[^>]*>(.*)<\/h\d>$/.exec(line)?.[1] ?? heading;
    if (line.startsWith('<pre ')) {
      const [, lead = ''] = /^<p>(.*):<\/p>$/.exec(lines.at(-1) ?? '') ?? [];
      const isTitle = lead !== '' && lead.length < maxTitleLength;
      if (isTitle) lines.pop();
      lines.push(`<div class="code"><header><span>${isTitle ? lead : heading}</span></header>`);
    }
    lines.push(line);
  }
  const boxed = lines.join('\n').replaceAll('</pre>', '</pre></div>');
  return boxed.replace(/<table>(?=\s+<thead>\s+<tr>\s+<th>Request)/, '<table class="routes">');
}

/** With the addresses of links. */
const maxTitleLength = 400;

/** The bot and the author of the sample catalogue that the documents name. */
const [sampleBot, sampleAuthor] = ['190519304972663312', '190519304972664832'];

/** Returns the bot that pages name as an example: that on most servers; undefined if all are for adults. */
export async function findExample(lists: PageParts['lists']): Promise<IndexedBot | undefined> {
  const sort = { key: 'count', descending: true } as const;
  return (await lists.page({ nsfw: false, sort, after: 0, limit: 1 })).bots[0];
}

/**
 * Returns a document without its title, each paragraph and item joined to one line, with this service's address and the
 * example filled in. A link to a document that is a page leads to that page. Of another link to a file, the text stays,
 * or the file's path.
 */
function readGuide(path: DocsPath, baseUrl: string, example?: IndexedBot): string {
  const own = documents[path]
    .replace(titleLine, '')
    .replaceAll(/(?:http:\/\/)?localhost:8080|https:\/\/bots\.example\.org/g, () => baseUrl)
    .replaceAll(sampleBot, example?.id ?? sampleBot)
    .replaceAll(sampleAuthor, example?.facts.authors[0] ?? sampleAuthor);
  const parts = own.split(/(^```[^]*?^```$)/m);
  const toLink = (link: string, text: string, target = '', heading = ''): string => {
    const file = target === '' ? files[path][2] : posix.join(posix.dirname(files[path][2]), target);
    const pages = docsPaths.filter((each) => files[each][2] === file);
    const page = pages.find((each) => hasHeading(each, heading.slice(1))) ?? pages[0];
    if (page === undefined) return text.endsWith('.md') ? `\`${file}\`` : text;
    return page === path ? link : `[${text}](${baseUrl}${page}${heading.replace('#', '#page-')})`;
  };
  return parts
    .map((part) => {
      if (part.startsWith('```')) return part;
      const joined = part.replaceAll(/(\S)\n *(?=[^\s<#|-])(?!\d+\. )/g, '$1 ');
      return joined.replaceAll(/\[([^[\]]+)\]\(([\w./-]+\.md)?(#[\w-]+)?\)/g, toLink);
    })
    .join('');
}

/** Whether a page has a heading with this slug. */
function hasHeading(path: DocsPath, slug: string): boolean {
  return [...documents[path].matchAll(/^#+ (.+)$/gm)].some(([, title = '']) => toSlug(title) === slug);
}

const titleLine = /^# (.*)\n/;

interface DocsPageProps extends RenderedText {
  readonly path: DocsPath;
  /** The bot that the document names. */
  readonly example: IndexedBot | undefined;
}

/** Explains the API and the data to people, in English; programs read the OpenAPI document. */
function DocsPage({ path, example, html, headings }: DocsPageProps): VNode {
  const { t, text, href } = usePage();
  const guide = documents[path];
  const [, title = ''] = titleLine.exec(guide) ?? [];
  const link = <a href={href('/api/openapi.json')}>OpenAPI</a>;
  const isApi = path === '/docs';
  const name = example && <NameLink path={`/bots/${example.id}`} name={example.facts.name} />;
  const head = isApi ? (
    <>
      <h1>{t('api.title')}</h1>
      <p class="whole">{t('api.introduction', { link })}</p>
      {name && <p class="whole">{t('api.example', { bot: name })}</p>}
    </>
  ) : (
    <h1 lang="en" dir="ltr">
      {title}
    </h1>
  );
  const toItem = (page: DocsPath): VNode => (
    <li key={page}>
      <a href={href(page)} aria-current={page === path ? 'page' : undefined}>
        {files[page][1]}
      </a>
      {page === path && (
        <ul>
          {headings
            .filter(({ level }) => level === 2)
            .map(({ id, text: heading }) => (
              <LinkItem key={id} href={`#${id}`}>
                {heading}
              </LinkItem>
            ))}
        </ul>
      )}
    </li>
  );
  return (
    <Layout title={isApi ? text('api.title') : title} current="/docs" script="copyScript" head={head}>
      <div class="docs">
        <nav class="rail" aria-label={text('api.title')}>
          <details>
            <summary>{t('bot.contents')}</summary>
            <div lang="en" dir="ltr">
              {['Start', 'Routes', 'More'].map((group) => (
                <Fragment key={group}>
                  <h2>{group}</h2>
                  <ul>{docsPaths.filter((page) => files[page][0] === group).map(toItem)}</ul>
                </Fragment>
              ))}
              <a href={href(`${path}.md`)}>This page as Markdown</a>
            </div>
          </details>
        </nav>
        <Prose locale="en" text={guide} html={html} />
        <template>
          <CopyButton of="code" />
        </template>
        <p class="out-of-sight" role="status" id="copied" />
      </div>
    </Layout>
  );
}
