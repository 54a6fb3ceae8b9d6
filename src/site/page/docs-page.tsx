import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import { Markdown, type RenderedText } from '../markdown/markdown.ts';
import { Layout, type PageProps } from './layout.tsx';
import { Prose } from './prose.tsx';

const guide = readFileSync(fileURLToPath(import.meta.resolve('#docs/api.md')), 'utf8');

/** Renders docs/api.md, in a thread of its own: pages of bots need not wait for it, and have less time. */
export async function renderApiGuide(baseUrl: string): Promise<RenderedText> {
  const markdown = new Markdown(maxRenderMs);
  try {
    return await markdown.render({ text: readApiGuide(baseUrl), name: '', images: {} });
  } finally {
    await markdown.close();
  }
}

const maxRenderMs = 30_000;

/** Returns docs/api.md without its title, with a line for each paragraph, and with the address of this service. */
function readApiGuide(baseUrl: string): string {
  const parts = guide.replace(/^# .*\n/, '').split(/(^```[^]*?^```$)/m);
  return parts
    .map((part) => (part.startsWith('```') ? part : part.replaceAll(/(\S)\n *(?=[^\s<#-])/g, '$1 ')))
    .join('')
    .replaceAll(/(?:http:\/\/)?localhost:8080/g, () => baseUrl);
}

/** How to use the API, for people, in English; programs read the OpenAPI document. */
export function DocsPage({ site, viewer, html, headings }: PageProps & RenderedText): VNode {
  const { t, text, publicPath } = useLanguage();
  return (
    <Layout site={site} viewer={viewer} title={text('api.title')} current="/docs">
      <div class="docs">
        <div class="prose">
          <h1>{t('api.title')}</h1>
          <p>{t('api.introduction', { link: <a href={publicPath('/api/openapi.json')}>OpenAPI</a> })}</p>
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
