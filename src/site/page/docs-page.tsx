import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import { type RenderedText, RenderThread } from '../markdown/markdown.ts';
import { assets } from './assets.ts';
import { CopyButton } from './elements.tsx';
import { Layout, type PageProps } from './layout.tsx';
import { Prose } from './prose.tsx';

/** The documents that are pages too, by their paths, and their files. */
const files = {
  '/docs': 'docs/api.md',
  '/docs/consumers': 'docs/consumers.md',
  '/docs/javascript': 'clients/typescript/README.md',
  '/docs/python': 'clients/python/README.md',
  '/docs/changelog': 'CHANGELOG.md',
};

export type DocsPath = keyof typeof files;
export const docsPaths = Object.keys(files) as readonly DocsPath[];

const documents = Object.fromEntries(
  docsPaths.map((path) => [
    path,
    readFileSync(new URL(files[path], import.meta.resolve('#package')), 'utf8'),
  ]),
) as Readonly<Record<DocsPath, string>>;

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
 * link to another document leads to its page; without one its text stays, or is the path of the file.
 */
function readGuide(path: DocsPath, baseUrl: string): string {
  const parts = documents[path].replace(titleLine, '').split(/(^```[^]*?^```$)/m);
  const toLink = (_link: string, text: string, target: string, heading = ''): string => {
    const file = posix.join(posix.dirname(files[path]), target);
    const page = docsPaths.find((each) => files[each] === file);
    if (page === undefined) return text.endsWith('.md') ? `\`${file}\`` : text;
    return `[${text}](${baseUrl}${page}${heading.replace('#', '#page-')})`;
  };
  return parts
    .map((part) => {
      if (part.startsWith('```')) return part;
      const joined = part.replaceAll(/(\S)\n *(?=[^\s<#|-])(?!\d+\. )/g, '$1 ');
      return joined.replaceAll(/\[([^\]]+)\]\(([\w./-]+\.md)(#[\w-]+)?\)/g, toLink);
    })
    .join('')
    .replaceAll(/(?:http:\/\/)?localhost:8080|https:\/\/bots\.example\.org/g, () => baseUrl);
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
    <Layout
      site={site}
      viewer={viewer}
      title={isApi ? text('api.title') : title}
      current="/docs"
      script={assets.copyScript.path}
    >
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
