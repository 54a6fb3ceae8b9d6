import type { VNode } from 'preact';
import { useLanguage } from '../language/page-language.tsx';
import { Layout, type PageProps } from './layout.tsx';

/** The part of an OpenAPI document that the page shows. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
  }[];
}

/** How to use the API, for people; programs read the OpenAPI document. */
export function DocsPage({ site, viewer, document }: PageProps & { readonly document: ApiDocument }): VNode {
  const { t, text, publicPath } = useLanguage();
  const { baseUrl } = site;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return { name: `${method.toUpperCase()} ${publicPath(path)}`, operation };
    }),
  );
  const samples: Readonly<Record<string, string>> = {
    listBots: `curl "${baseUrl}/api/v2/bots?q=music&limit=10"`,
    updateBot: `curl ${baseUrl}/api/v2/bots/ID \\\n  -H "Authorization: TOKEN" \\\n  -H "Content-Type: application/json" \\\n  -d '{"bot": {"count": 156}}'`,
  };
  return (
    <Layout site={site} viewer={viewer} title={text('api.title')} current="/docs">
      <div class="docs">
        <div class="prose">
          <h1>{t('api.title')}</h1>
          <p>{t('api.introduction', { link: <a href={publicPath('/api/openapi.json')}>OpenAPI</a> })}</p>
        </div>
        <nav class="panel contents" aria-labelledby="contents">
          <h2 id="contents">{t('bot.contents')}</h2>
          <ul>
            {operations.map(({ name, operation: { operationId } }) => (
              <li key={operationId}>
                <a href={`#${operationId}`}>
                  <code dir="ltr">{name}</code>
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="prose" lang="en" dir="ltr">
          {operations.map(({ name, operation }) => (
            <section key={name} id={operation.operationId}>
              <h2>
                <code>{name}</code>
              </h2>
              <p>
                {operation.summary}. {operation.description}
              </p>
              {operation.operationId in samples && <pre tabIndex={0}>{samples[operation.operationId]}</pre>}
              <Parameters operation={operation} />
            </section>
          ))}
        </div>
      </div>
    </Layout>
  );
}

function Parameters({ operation }: { readonly operation: Operation }): VNode | null {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== 'path');
  if (parameters.length === 0) return null;
  return (
    <dl class="parameters">
      {parameters.map(({ name, description }) => (
        <>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>{description}</dd>
        </>
      ))}
    </dl>
  );
}
