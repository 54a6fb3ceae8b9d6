import type { VNode } from 'preact';
import { useLanguage } from './language/page-language.tsx';
import { Layout, type Site, type Viewer } from './page/layout.tsx';

export interface DocsPageProps {
  readonly site: Site;
  readonly viewer: Viewer | null;
  readonly baseUrl: string;
  readonly document: ApiDocument;
}

/** The part of an OpenAPI document that the page shows. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
  }[];
}

/** How to use the API, for people; programs read the OpenAPI document. */
export function DocsPage({ site, viewer, baseUrl, document }: DocsPageProps): VNode {
  const { t, text, publicPath } = useLanguage();
  const sample = `curl ${baseUrl}/api/v2/bots/ID \\\n  -H "Authorization: TOKEN" \\\n  -H "Content-Type: application/json" \\\n  -d '{"bot": {"count": 156}}'`;
  return (
    <Layout site={site} viewer={viewer} title={text('api.title')} current="/docs">
      <div class="prose">
        <h1>{t('api.title')}</h1>
        <p>{t('api.introduction', { link: <a href={publicPath('/api/openapi.json')}>OpenAPI</a> })}</p>
        <pre tabIndex={0}>{sample}</pre>
        {Object.entries(document.paths).flatMap(([path, operations]) =>
          Object.entries(operations).map(([method, operation]) => (
            <section key={method + path} lang="en" dir="ltr">
              <h2>
                <code>
                  {method.toUpperCase()} {publicPath(path)}
                </code>
              </h2>
              <p>
                {operation.summary}. {operation.description}
              </p>
              <Parameters operation={operation} />
            </section>
          )),
        )}
      </div>
    </Layout>
  );
}

function Parameters({ operation }: { readonly operation: Operation }): VNode | null {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in !== 'path');
  if (parameters.length === 0) return null;
  return (
    <ul>
      {parameters.map(({ name, description }) => (
        <li key={name}>
          <code>{name}</code> {description}
        </li>
      ))}
    </ul>
  );
}
