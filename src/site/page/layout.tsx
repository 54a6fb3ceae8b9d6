import type { Context } from 'koa';
import type { ComponentChildren, VNode } from 'preact';
import type { AccountId } from '../../bot/commit-message.ts';
import type { BlockedName } from '../../catalogue/settings/blocked.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { parseUrl } from '../../lib/network.ts';
import type { Proposal } from '../../proposals/proposal.ts';
import type { Languages } from '../language/languages.ts';
import { directionOf } from '../language/locales.ts';
import type { MessageKey } from '../language/messages.tsx';
import { LanguageSwitch, type SentForm, useLanguage } from '../language/page-language.tsx';
import { aboutPath, categoriesPath, collectionsPath, feedsPath } from './addresses.ts';
import { assets, createOwnAssets } from './assets.ts';
import { findInitial } from './bot-image.tsx';
import { LinkItem, PostButton } from './elements.tsx';
import { DocumentHead, Head, NoIndex, type PageMeta } from './head.tsx';
import type { RepositoryLinks } from './repository-links.ts';

/** A person who is logged in. */
export interface Viewer {
  /** The account's ID, as in a bot's `authors`. */
  readonly id: AccountId;
  readonly name: string;
  /** When the provider last authenticated the person; milliseconds since the epoch. */
  readonly authenticatedAt: number;
  /** When the account was created, where the provider's ids tell; milliseconds since the epoch. */
  readonly createdAt?: number | undefined;
  /** How many proposals wait for a decision; left out for an account that may not review. */
  readonly toReview?: number;
  /** Its proposals that were decided about since it last looked. */
  readonly answered?: readonly Proposal[];
  /** Why nothing is taken from the account; undefined if it is not blocked. */
  readonly blocked?: BlockedName | undefined;
}

/** What all pages of a site have in common. */
export interface Site {
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  /** That of the original, where this is a copy of a list; else the same. */
  readonly canonicalUrl: string;
  /** Whether there are forms: here, or for a copy at the original. */
  readonly hasForms: boolean;
  /** The settings of the catalogue that are in force. */
  readonly settings: CatalogueSettings;
  /** The languages of the interface. */
  readonly languages: Languages;
  /** Whether there is a login: here, or for a copy perhaps at the original. */
  readonly login: boolean;
  /** The web pages of the catalogue's repository; null if it has none. */
  readonly repository: RepositoryLinks | null;
  /** How to reach the operator of the service; null if not configured. */
  readonly contact: string | null;
  /** Whether an open page reloads when a file of the catalogue changes. */
  readonly live: boolean;
  /** Whether every page says that the bots are invented. */
  readonly demo: boolean;
}

/** What responds with pages of a site. */
export interface PageOptions {
  readonly site: Site;
  /** Reads who is logged in. */
  readonly viewerOf: (ctx: Context) => Promise<Viewer | null>;
}

/** What every page is rendered with. */
export interface PageProps {
  readonly site: Site;
  /** Who is logged in; null for a visitor. */
  readonly viewer: Viewer | null;
}

interface LayoutProps extends PageProps {
  /** The document title, before the product's name; the front page has none. */
  readonly title?: string;
  /** What the page says about itself; left out for a page that nobody shares. */
  readonly meta?: PageMeta;
  /** Whether search engines may not list it. For a page with `meta`, that says so. */
  readonly isUnlisted?: boolean;
  /** Whether it is the front page, which has a search of its own in place of the one in the header. */
  readonly isFront?: boolean;
  /** What was searched for. */
  readonly q?: string;
  /** The page of the navigation that this is. */
  readonly current?: NavigationPath | undefined;
  /** The path of a script among the assets. The page works without it. */
  readonly script?: string;
  /** The form that a change of the language sends. */
  readonly form?: SentForm;
  readonly children: ComponentChildren;
}

/** Where people who are logged in find their bots. */
export const myBotsPath = '/my-bots';

/** A page that the header links to. */
type NavigationPath = '/add' | '/docs' | '/review' | typeof myBotsPath;

/** A whole page: header with the account, `main`, footer. */
export function Layout(props: LayoutProps): VNode {
  const { site, title, meta, isUnlisted = false, script, children } = props;
  const { t, locale, dir, href } = useLanguage();
  const { name } = site.settings;
  const { logo } = createOwnAssets(site.settings);
  return (
    <html lang={locale} dir={dir}>
      <DocumentHead settings={site.settings} title={title === undefined ? name : `${title} · ${name}`}>
        <Head site={site} icon={logo ?? assets.icon} meta={meta} />
        {isUnlisted && <NoIndex />}
        {script !== undefined && <script type="module" src={href(script)} />}
        {site.live && <script type="module" src={href(assets.liveScript.path)} />}
      </DocumentHead>
      <body>
        <a class="skip" href="#main">
          {t('layout.skip')}
        </a>
        <Header {...props} />
        <main id="main" class="wide" tabIndex={-1}>
          {children}
        </main>
        <Footer {...props} />
      </body>
    </html>
  );
}

function Header({ site, viewer, isFront = false, q = '', current }: LayoutProps): VNode {
  const { t, text, href } = useLanguage();
  const { notice, language } = site.settings;
  const answered = viewer?.answered?.length ?? 0;
  const link = (path: NavigationPath, key: MessageKey, count = 0, look?: string): VNode => (
    <a class={look} href={href(path)} aria-current={path === current ? 'page' : undefined}>
      {t(key, { count })}
    </a>
  );
  return (
    <header class="top">
      {site.demo && <p class="demo">{t('layout.demo')}</p>}
      {notice !== null && (
        <p class="demo" lang={language} dir={directionOf(language)}>
          {notice}
        </p>
      )}
      <div class="wide bar">
        <a class="brand" href={href('/')} aria-current={isFront ? 'page' : undefined}>
          <Brand {...site} />
        </a>
        <nav aria-label={text('layout.navigation')}>
          {site.hasForms && link('/add', 'layout.add')}
          {link('/docs', 'layout.api', 0, 'from-tablet')}
          {viewer &&
            link(myBotsPath, answered > 0 ? 'layout.myBots' : 'myBots.title', answered, 'from-tablet')}
          {viewer?.toReview !== undefined && link('/review', 'layout.review', viewer.toReview)}
        </nav>
        {!isFront && <SearchForm q={q} />}
        {site.login && <Account viewer={viewer} />}
      </div>
    </header>
  );
}

function Brand({ settings }: Pick<Site, 'settings'>): VNode {
  const { href } = useLanguage();
  const { logo } = createOwnAssets(settings);
  return (
    <>
      <img src={href((logo ?? assets.icon).path)} width="28" height="28" alt="" />
      {settings.name}
    </>
  );
}

/** A map of the site, and its languages. */
function Footer({ site, form }: LayoutProps): VNode {
  const { t, text, href } = useLanguage();
  const { contact, repository, settings } = site;
  const { terms, privacy, report } = settings.links;
  return (
    <footer class="bottom">
      <div class="wide map">
        <div class="stack">
          <p class="brand">
            <Brand {...site} />
          </p>
          <p>{t('layout.footer')}</p>
          {contact !== null && (
            <p>{t('layout.operator', { contact: <OperatorContact contact={contact} /> })}</p>
          )}
        </div>
        <FooterLinks
          title="layout.catalogue"
          links={[
            [href('/?sort=popular'), 'shelf.popular'],
            [href(categoriesPath), 'list.categories'],
            [href(collectionsPath), 'collections.title'],
            [href(feedsPath), 'feeds.title'],
          ]}
        />
        <FooterLinks
          title="layout.about"
          links={[
            [href(aboutPath), 'about.review'],
            [settings.about.rules && `${href(aboutPath)}#rules`, 'about.rules'],
            [`${href(aboutPath)}#verified`, 'bot.verifiedMeans'],
            [terms, 'layout.terms'],
            [privacy, 'layout.privacy'],
            [report, 'layout.report'],
          ]}
        />
        <FooterLinks
          title="layout.build"
          links={[
            [href('/docs'), 'layout.api'],
            [repository?.home, 'layout.source'],
          ]}
        />
        <nav aria-label={text('layout.languages')}>
          <h2>{t('bot.language')}</h2>
          <LanguageSwitch form={form} />
        </nav>
      </div>
    </footer>
  );
}

/** A column of the footer. A link without an address is left out. */
function FooterLinks(props: {
  readonly title: MessageKey;
  readonly links: readonly (readonly [address: string | undefined, text: MessageKey])[];
}): VNode {
  const { t } = useLanguage();
  const links = props.links.flatMap(([href, key]) => (href === undefined ? [] : { href, key }));
  return (
    <div>
      <h2>{t(props.title)}</h2>
      <ul>
        {links.map(({ href, key }) => (
          <LinkItem key={key} href={href}>
            {t(key)}
          </LinkItem>
        ))}
      </ul>
    </div>
  );
}

/** A menu that is named by the account, or a login link. */
function Account({ viewer }: { readonly viewer: Viewer | null }): VNode {
  const { t, href } = useLanguage();
  if (viewer === null) {
    return (
      <a class="account" href={href('/login')}>
        {t('layout.logIn')}
      </a>
    );
  }
  return (
    <details class="menu person account">
      <summary>
        <span class="initial" aria-hidden="true">
          {findInitial(viewer.name)}
        </span>
        <span class="out-of-sight">{t('layout.loggedInAs')} </span>
        <bdi>{viewer.name}</bdi>
      </summary>
      <ul>
        <LinkItem href={href(myBotsPath)}>{t('myBots.title')}</LinkItem>
        <li>
          <PostButton path="/logout" look="plain">
            {t('layout.logOut')}
          </PostButton>
        </li>
      </ul>
    </details>
  );
}

/** The operator's contact: a link for an https or mail address, else plain text. */
export function OperatorContact({ contact }: { readonly contact: string }): VNode {
  const href = toContactAddress(contact);
  return href === undefined ? <bdi>{contact}</bdi> : <a href={href}>{contact}</a>;
}

/** Returns an address for reports. A mail begins with a subject and the address of what it is about. */
export function reportAddress(address: string, subject: string, about: string): string {
  if (!address.startsWith('mailto:')) return address;
  return `${address}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(`${about}\n\n`)}`;
}

/** Returns the address that a contact links to; undefined for plain text. */
function toContactAddress(contact: string): string | undefined {
  if (/^https:\/\//i.test(contact) && parseUrl(contact)) return contact;
  return /^[^\s@/]+@[^\s@/]+\.[^\s@/.]+$/.test(contact) ? `mailto:${contact}` : undefined;
}

/** Searches all bots. Works without a script. @param props q: what was searched for last */
export function SearchForm({ q }: { readonly q: string }): VNode {
  const { t, text, href } = useLanguage();
  return (
    <form class="search" role="search" action={href('/')}>
      <label class="out-of-sight" for="q">
        {t('search.label')}
      </label>
      <input
        id="q"
        type="search"
        name="q"
        value={q}
        maxLength={200}
        placeholder={text('search.placeholder')}
      />
      <button type="submit">{t('search.button')}</button>
    </form>
  );
}
