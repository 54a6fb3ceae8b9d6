import type { ComponentChildren, VNode } from 'preact';
import { Head } from '../head/head.tsx';
import type { PageMeta } from '../head/page-meta.ts';
import { assets } from './assets.ts';
import { interfaceLanguage, messages } from './messages.ts';
import { OperatorContact } from './operator.tsx';
import type { RepositoryLinks } from './repository-links.ts';

/** A person who is logged in. */
export interface Viewer {
  /** The account's ID, as in a bot's `authors`. */
  readonly id: string;
  readonly name: string;
}

/** What all pages of a site have in common. */
export interface Site {
  /** Whether the service has a login. */
  readonly login: boolean;
  /** The web pages of the catalogue's repository; null where it has none. */
  readonly repository: RepositoryLinks | null;
  /** How to reach the operator of the service; null where not configured. */
  readonly contact: string | null;
  /** Whether an open page reloads when a file of the catalogue changes. */
  readonly live: boolean;
  /** Whether every page says that the bots are invented. */
  readonly demo: boolean;
}

export interface LayoutProps {
  readonly site: Site;
  /** Null for a visitor. */
  readonly viewer: Viewer | null;
  /** The document title, before the product's name; the front page has none. */
  readonly title?: string;
  /** What the page says about itself; left out for a page that nobody shares. */
  readonly meta?: PageMeta;
  /** The path of a script among the assets. The page works without it. */
  readonly script?: string;
  readonly children: ComponentChildren;
}

/** A whole page: header with the account, `main`, footer. */
export function Layout(props: LayoutProps): VNode {
  const { site, viewer, title, meta, script, children } = props;
  return (
    <html lang={interfaceLanguage} dir="ltr">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title === undefined ? messages.product : `${title} · ${messages.product}`}</title>
        <link rel="stylesheet" href={assets.stylesheet.path} />
        <Head product={messages.product} newBots={messages.newBots} icon={assets.icon.path} meta={meta} />
        {script !== undefined && <script type="module" src={script} />}
        {site.live && <script type="module" src={assets.liveScript.path} />}
      </head>
      <body>
        <a class="skip" href="#main">
          {messages.skip}
        </a>
        <header class="top">
          {site.demo && <p class="demo">{messages.demo}</p>}
          <div class="wide bar">
            <a class="brand" href="/">
              <img src={assets.icon.path} width="28" height="28" alt="" />
              {messages.product}
            </a>
            <nav aria-label={messages.navigation}>
              <a href="/">{messages.browse}</a>
              <a href="/add">{messages.add}</a>
              <a href="/docs">{messages.api}</a>
            </nav>
            {site.login && <Account viewer={viewer} />}
          </div>
        </header>
        <main id="main" class="wide" tabIndex={-1}>
          {children}
        </main>
        <footer class="wide bottom">
          <p>
            {messages.footer} {site.repository && <a href={site.repository.home}>{messages.source}</a>}
            {site.contact !== null && (
              <>
                {' '}
                {messages.operator} <OperatorContact contact={site.contact} />
              </>
            )}
          </p>
        </footer>
      </body>
    </html>
  );
}

/** The name of the account and a logout button, or a login link. */
function Account({ viewer }: { readonly viewer: Viewer | null }): VNode {
  if (viewer === null) {
    return (
      <a class="account" href="/login">
        {messages.logIn}
      </a>
    );
  }
  return (
    <form class="account" method="post" action="/logout">
      <span class="muted">
        <span class="out-of-sight">{messages.signedInAs} </span>
        <bdi>{viewer.name}</bdi>
      </span>
      <button class="quiet" type="submit">
        {messages.logOut}
      </button>
    </form>
  );
}
