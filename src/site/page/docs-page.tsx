import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import { type RenderedText, RenderThread } from '../markdown/markdown.ts';
import { CopyButton, Prose } from './elements.tsx';
import type { AddPage } from './html-response.ts';
import { Layout } from './layout.tsx';
import { useLanguage, type PageParts } from './page-context.tsx';

/** The documents that are also pages, by path, and their files. The first file has several pages. */
const files = {
  '/docs': 'docs/api.md',
  '/docs/bots': 'docs/api.md',
  '/docs/lists': 'docs/api.md',
  '/docs/errors': 'docs/api.md',
  '/docs/consumers': 'docs/consumers.md',
  '/docs/javascript': 'clients/typescript/README.md',
  '/docs/python': 'clients/python/README.md',
  '/docs/changelog': 'CHANGELOG.md',
};

type DocsPath = keyof typeof files;
export const docsPaths = Object.keys(files) as readonly DocsPath[];

/** Adds the documents. Concurrent requests for one share its rendering, because each takes a thread. */
export function addDocsPages(addPage: AddPage, { site, bots }: PageParts): void {
  for (const path of docsPaths) {
    let guide: ReturnType<typeof renderGuide> | undefined;
    let named: BotId | undefined;
    const render = async (): Promise<VNode> => {
      const id = await findExample(bots);
      if (named !== id) guide = undefined;
      guide ??= renderGuide(path, site.canonicalUrl, (named = id));
      const rendered = await guide.catch((error: unknown) => {
        guide = undefined;
        throw error;
      });
      // On a busy machine, rendering may have timed out.
      if (rendered.html === null) guide = undefined;
      return <DocsPage {...rendered} path={path} />;
    };
    addPage(path, () => ({ key: { page: path }, render }));
  }
}

const documents = Object.fromEntries(docsPaths.map((path) => [path, readDocument(path)])) as Readonly<
  Record<DocsPath, string>
>;

/** Returns the text of a page. The routes and errors of the first file are separate pages, to which the first page links. */
function readDocument(path: DocsPath): string {
  const text = readFileSync(new URL(files[path], import.meta.resolve('#package')), 'utf8');
  if (files[path] !== files['/docs']) return text;
  const [routes = '', errors = ''] = ['routes', 'errors'].map(
    (part) => text.split(`\n<!-- ${part} -->`)[1]?.split('<!-- end -->')[0],
  );
  const opened = routes.replaceAll('<details>', '<details open>').split(/^(?=### )/m);
  if (path === '/docs/bots') return `# Routes of bots\n\n${opened.filter(isOfBots).join('')}`;
  if (path === '/docs/lists')
    return `# Other routes\n\n${opened.filter((route) => !isOfBots(route)).join('')}`;
  if (path === '/docs/errors') return `# Examples of errors\n\n${errors}`;
  const links = [...routes.matchAll(/^### (.+)\n\n<details>\n<summary><code>(.+)<\/code>/gm)].map(
    ([, title = '', route = '']) => `- [${title}](#${toSlug(title)}): \`${route}\`\n`,
  );
  return text
    .replace(routes, () => `\n${links.join('')}\n`)
    .replace(errors, () => '\n\n[Examples of errors](#examples-of-errors).\n\n');
}

function isOfBots(route: string): boolean {
  return /<summary><code>\w+ \/api\/v2\/bots/.test(route);
}

/**
 * Renders a document in a separate thread, so that pages of bots do not wait for it and it may take more time.
 * @param id the bot that the document names; by default that of the sample catalogue
 */
export async function renderGuide(path: DocsPath, baseUrl: string, id?: BotId): Promise<RenderedText> {
  const thread = new RenderThread(maxRenderMs, 0);
  try {
    const text = readGuide(path, baseUrl).replaceAll(sampleBot, id ?? sampleBot);
    return await thread.render({ text, name: '', images: {} });
  } finally {
    await thread.close();
  }
}

const maxRenderMs = 30_000;

/** The bot of the sample catalogue that the documents name. */
const sampleBot = '190519304972663312' as BotId;

/** Returns the bot that the pages name as an example; undefined if all are for adults. */
async function findExample(bots: PageParts['bots']): Promise<BotId | undefined> {
  const all = bots.get(sampleBot) ? [] : await bots.sorted();
  return all.find(({ facts }) => !facts.nsfw)?.id;
}

/**
 * Returns a document without its title, with a line for each paragraph and item, and with the address of this service. Links to
 * documents and headings that are pages lead to these; of other links, the text stays, or the path of the file.
 */
function readGuide(path: DocsPath, baseUrl: string): string {
  const own = documents[path]
    .replace(titleLine, '')
    .replaceAll(/(?:http:\/\/)?localhost:8080|https:\/\/bots\.example\.org/g, () => baseUrl);
  const parts = own.split(/(^```[^]*?^```$)/m);
  const toLink = (link: string, text: string, target = '', heading = ''): string => {
    const file = target === '' ? files[path] : posix.join(posix.dirname(files[path]), target);
    const pages = docsPaths.filter((each) => files[each] === file);
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

/** Returns the slug that Git hosts make of a heading. */
function toSlug(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

const titleLine = /^# (.*)\n/;

interface DocsPageProps extends RenderedText {
  readonly path: DocsPath;
}

/** Explains the API and the data to people, in English; programs read the OpenAPI document. */
function DocsPage({ path, html, headings }: DocsPageProps): VNode {
  const { t, text, href } = useLanguage();
  const guide = documents[path];
  const [, title = ''] = titleLine.exec(guide) ?? [];
  const link = <a href={href('/api/openapi.json')}>OpenAPI</a>;
  const isApi = path === '/docs';
  return (
    <Layout title={isApi ? text('api.title') : title} current="/docs" script="copyScript">
      <div class="docs">
        <div class="prose">
          {isApi ? (
            <h1>{t('api.title')}</h1>
          ) : (
            <>
              <p>
                <a href={href('/docs')}>← {t('api.title')}</a>
              </p>
              <h1 lang="en" dir="ltr">
                {title}
              </h1>
            </>
          )}
          {isApi && <p>{t('api.introduction', { link })}</p>}
        </div>
        {headings.length > 0 && (
          <nav class="panel contents" aria-labelledby="contents">
            <details>
              <summary>
                <h2 id="contents">{t('bot.contents')}</h2>
              </summary>
              <ul lang="en" dir="ltr">
                {headings.map(({ id, level, text: heading }) => (
                  <li key={id} class={level === 2 ? undefined : 'below'}>
                    <a href={`#${id}`}>{heading}</a>
                  </li>
                ))}
              </ul>
            </details>
          </nav>
        )}
        <Prose locale="en" text={guide} html={html} />
        <template>
          <CopyButton of="code" />
        </template>
        <p class="out-of-sight" role="status" id="copied" />
      </div>
    </Layout>
  );
}
