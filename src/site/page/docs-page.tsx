import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import { type RenderedText, RenderThread } from '../markdown/markdown.ts';
import { Layout, type PageProps } from './layout.tsx';
import { Prose } from './prose.tsx';

const readDocument = (name: string): string =>
  readFileSync(fileURLToPath(import.meta.resolve(`#docs/${name}.md`)), 'utf8');

/** The documents that are pages too, by their paths. */
const documents = { '/docs': readDocument('api'), '/docs/consumers': readDocument('consumers') };

export type DocsPath = keyof typeof documents;
export const docsPaths = Object.keys(documents) as readonly DocsPath[];

/** Renders a document, in a thread of its own: pages of bots need not wait for it, and have less time. */
export async function renderGuide(path: DocsPath, baseUrl: string): Promise<RenderedText> {
  const thread = new RenderThread(maxRenderMs, 0);
  try {
    return await thread.render({ text: readGuide(path, baseUrl), name: '', images: {} });
  } finally {
    await thread.close();
  }
}

const maxRenderMs = 30_000;

/**
 * Returns a document without its title, with a line for each paragraph and item, and with the address of this service. A
 * link to another document leads to its page; without one it is the name of the file.
 */
function readGuide(path: DocsPath, baseUrl: string): string {
  const parts = documents[path].replace(titleLine, '').split(/(^```[^]*?^```$)/m);
  const pages: Readonly<Record<string, DocsPath>> = { api: '/docs', consumers: '/docs/consumers' };
  const toLink = (_link: string, text: string, name: string, heading?: string): string => {
    const page = pages[name];
    if (page === undefined) return `\`docs/${name}.md\``;
    return `[${text}](${baseUrl}${page}${heading === undefined ? '' : `#page-${heading}`})`;
  };
  return parts
    .map((part) => {
      if (part.startsWith('```')) return part;
      const joined = part.replaceAll(/(\S)\n *(?=[^\s<#-])(?!\d+\. )/g, '$1 ');
      return joined.replaceAll(/\[([^\]]+)\]\(([\w-]+)\.md(?:#([\w-]+))?\)/g, toLink);
    })
    .join('')
    .replaceAll(/(?:http:\/\/)?localhost:8080/g, () => baseUrl);
}

const titleLine = /^# (.*)\n/;

export interface DocsPageProps extends PageProps, RenderedText {
  readonly path: DocsPath;
}

/** How to use the API and the data, for people, in English; programs read the OpenAPI document. */
export function DocsPage({ site, viewer, path, html, headings }: DocsPageProps): VNode {
  const { t, text, href, publicPath } = useLanguage();
  const guide = documents[path];
  const [, title = ''] = titleLine.exec(guide) ?? [];
  const link = <a href={publicPath('/api/openapi.json')}>OpenAPI</a>;
  const isApi = path === '/docs';
  return (
    <Layout site={site} viewer={viewer} title={isApi ? text('api.title') : title} current="/docs">
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
        <nav class="panel contents" aria-labelledby="contents">
          <h2 id="contents">{t('bot.contents')}</h2>
          <ul lang="en" dir="ltr">
            {headings.map(({ id, level, text: heading }) => (
              <li key={id} class={level === 2 ? undefined : 'below'}>
                <a href={`#${id}`}>{heading}</a>
              </li>
            ))}
          </ul>
        </nav>
        <Prose locale="en" text={guide} html={html} />
      </div>
    </Layout>
  );
}
