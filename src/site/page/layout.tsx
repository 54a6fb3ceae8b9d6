import type { Context } from 'koa';
import type { ComponentChildren, VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import { maxQueryLength } from '../../catalogue/lists/parameters.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery } from '../../http/request.ts';
import { toContactAddress } from '../../lib/network.ts';
import { directionOf } from '../../bot/locale.ts';
import { type MessageKey, formatOwnName } from '../language/messages.tsx';
import {
  aboutPath,
  categoriesPath,
  collectionsPath,
  feedsPath,
  languagePath,
  myBotsPath,
  watchPath,
  withLocale,
} from './addresses.ts';
import { assets, createOwnAssets } from './assets.ts';
import { LinkItem, PostButton, findInitial, toCategoryClass } from './elements.tsx';
import { Head, type PageMeta } from './head.tsx';
import { usePage } from './page-context.tsx';

/** A form of a page that is sent when the reader leaves the page, so that nothing typed is lost. */
export interface SentForm {
  readonly id: string;
  /** The path that shows the form again. */
  readonly action: string;
}

interface LayoutProps {
  /** The document title, before the product's name; by default that of `meta`. The front page has no title. */
  readonly title?: string;
  /** The description of the page; left out for a page that nobody shares. */
  readonly meta?: PageMeta;
  /** Whether search engines may not list the page. For a page with `meta`, `meta` decides. */
  readonly isUnlisted?: boolean;
  readonly isFront?: boolean;
  /** Whether the page has a search of its own, which replaces that of the header; by default the front page has. */
  readonly hasSearch?: boolean;
  /** The text that was searched for. */
  readonly q?: string;
  /** The entry of the navigation for this page. */
  readonly current?: NavigationPath | undefined;
  /** A script for the page, which also works without it. */
  readonly script?: keyof typeof assets;
  /** The form that is sent when the language changes. */
  readonly form?: SentForm;
  /** The category whose colour the page has. */
  readonly category?: Category;
  /** The lines below the heading, for a page whose heading is its title. */
  readonly lead?: ComponentChildren;
  /** The heading of the page and the lines below it, in place of `lead`. They stand on the wall, above the plank. */
  readonly head?: ComponentChildren;
  /** The content next to or below the heading. */
  readonly beside?: ComponentChildren;
  /** The whole content of the wall, in place of `head` and `beside`. */
  readonly wall?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A page that the header links to. */
type NavigationPath = '/add' | '/docs' | '/review' | typeof myBotsPath;

/** A whole page: header with the account, `main`, footer. */
export function Layout(props: LayoutProps): VNode {
  const { meta, isUnlisted = false, isFront = false, script, category, children } = props;
  const { title = isFront ? undefined : meta?.title, lead, beside } = props;
  const { head = lead && [<h1>{title}</h1>, lead] } = props;
  const { wall = head && <PageHead {...{ head, beside }} /> } = props;
  const { site, t, locale, dir, href } = usePage();
  const { name } = site.settings;
  return (
    <html lang={locale} dir={dir}>
      <Head title={title === undefined ? name : `${title} · ${name}`} {...{ meta, isUnlisted }}>
        {script !== undefined && <script type="module" src={href(assets[script].path)} />}
        {site.live && <script type="module" src={href(assets.liveScript.path)} />}
      </Head>
      <body class={category && toCategoryClass(category)}>
        <a class="skip" href="#main">
          {t('layout.skip')}
        </a>
        <Header {...props} />
        <main id="main" tabIndex={-1}>
          {wall && <div class={isFront ? 'wide front' : 'wall'}>{wall}</div>}
          <div class="wide">{children}</div>
        </main>
        <Footer {...props} />
      </body>
    </html>
  );
}

function PageHead({ head, beside }: Pick<LayoutProps, 'head' | 'beside'>): VNode {
  return (
    <div class="wide head">
      <div class="title">{head}</div>
      {beside}
    </div>
  );
}

function Header({ isFront = false, hasSearch = isFront, q = '', current }: LayoutProps): VNode {
  const { site, viewer, t, text, href } = usePage();
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
          <Brand />
        </a>
        <nav aria-label={text('layout.navigation')}>
          {site.hasForms && link('/add', 'layout.add')}
          {link('/docs', 'layout.api', 0, 'from-tablet')}
          {viewer &&
            link(myBotsPath, answered > 0 ? 'layout.myBots' : 'myBots.title', answered, 'from-tablet')}
          {viewer?.toReview !== undefined && link('/review', 'layout.review', viewer.toReview)}
        </nav>
        {!hasSearch && <SearchForm q={q} />}
        {site.login && <Account />}
      </div>
    </header>
  );
}

function Brand(): VNode {
  const { site, href } = usePage();
  const { logo } = createOwnAssets(site.settings);
  return (
    <>
      <img src={href((logo ?? assets.icon).path)} width="30" height="30" alt="" />
      {site.settings.name}
    </>
  );
}

/** A map of the site, and its languages. */
function Footer({ form }: LayoutProps): VNode {
  const { site, t, text, href } = usePage();
  const { contact, repository, settings } = site;
  const { terms, privacy, report } = settings.links;
  return (
    <footer class="bottom">
      <div class="wide map">
        <div class="stack">
          <p class="brand">
            <Brand />
          </p>
          <p>{t('layout.footer')}</p>
          {contact !== null && <p>{t('layout.operator', { contact: <OperatorContact /> })}</p>}
        </div>
        <FooterLinks
          title="layout.catalogue"
          links={[
            [href('/?sort=popular'), 'shelf.popular'],
            [href(categoriesPath), 'list.categories'],
            [href(collectionsPath), 'collections.title'],
            [href(feedsPath), 'feeds.title'],
            [href(watchPath), 'watch.title'],
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

/** A menu of the languages of the interface: links, or buttons of the page's form. */
function LanguageSwitch({ form }: { readonly form: SentForm | undefined }): VNode {
  const { locale: current, locales, href } = usePage();
  return (
    <details class="menu up" name="menu">
      <summary class="chip">{formatOwnName(current, locales)}</summary>
      <ul>
        {locales.map((locale) => {
          const common = {
            lang: locale,
            dir: directionOf(locale),
            'aria-current': locale === current ? ('true' as const) : undefined,
            children: formatOwnName(locale, locales),
          };
          const path = form?.action ?? languagePath;
          return (
            <li key={locale}>
              {form ? (
                <button
                  class="plain"
                  form={form.id}
                  formAction={withLocale(href(path), locale)}
                  {...common}
                />
              ) : (
                <a href={withLocale(href(path), locale)} rel="nofollow" {...common} hreflang={locale} />
              )}
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** A column of the footer. Links without an address are left out. */
function FooterLinks(props: {
  readonly title: MessageKey;
  readonly links: readonly (readonly [address: string | undefined, text: MessageKey])[];
}): VNode {
  const { t } = usePage();
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

/** A menu named after the account, or a login link. */
function Account(): VNode {
  const { viewer, t, href } = usePage();
  if (viewer === null) {
    return (
      <a class="account" href={href('/login')}>
        {t('layout.logIn')}
      </a>
    );
  }
  return (
    <details class="menu person account" name="menu">
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

/** The operator's contact, if configured: a link for an https or mail address, otherwise plain text. */
export function OperatorContact(): VNode | null {
  const { contact } = usePage().site;
  if (contact === null) return null;
  const href = toContactAddress(contact);
  return href === undefined ? <bdi>{contact}</bdi> : <a href={href}>{contact}</a>;
}

interface SearchFormProps {
  /** The last search text. */
  readonly q: string;
  /** Whether one can type into it without a press. */
  readonly isFocused?: boolean;
  /** The page that searches only its own content, and its name for the field; all bots are searched by default. */
  readonly inPage?: { readonly path: string; readonly label: MessageKey };
}

/** A form that searches all bots or one page, also without scripts. */
export function SearchForm({ q, isFocused = false, inPage }: SearchFormProps): VNode {
  const { t, text, href } = usePage();
  const id = inPage ? 'find' : 'q';
  return (
    <form
      class={inPage ? 'search find' : 'search'}
      role={inPage ? undefined : 'search'}
      action={href(inPage?.path ?? '/')}
    >
      <label class="out-of-sight" for={id}>
        {t(inPage?.label ?? 'search.label')}
      </label>
      <input
        id={id}
        type="search"
        name="q"
        value={q}
        maxLength={maxQueryLength}
        placeholder={text(inPage?.label ?? 'search.placeholder')}
        autofocus={isFocused}
      />
      <button type="submit">{t('search.button')}</button>
    </form>
  );
}

/** A part of a list. */
interface PickedPage<T> {
  readonly page: number;
  readonly pages: number;
  readonly shown: readonly T[];
}

/** Returns the page of a list that the parameter `page` selects, by default the first. @throws {ProblemError} not-found */
export function pickPage<T>(ctx: Context, all: readonly T[], pageSize = 50): PickedPage<T> {
  const page = Math.trunc(Number(parseQuery(ctx).get('page') ?? 1));
  const pages = Math.max(1, Math.ceil(all.length / pageSize));
  if (!(page >= 1 && page <= pages))
    throw new ProblemError('not-found', `there is no page ${page}: the last one is ${pages}`);
  return { page, pages, shown: all.slice((page - 1) * pageSize, page * pageSize) };
}

export interface PageLinksProps {
  /** The number of this page. */
  readonly page: number;
  readonly pages: number;
  /** Returns the public path of a page. */
  readonly pathOf: (number: number) => string;
}

/** Links to the other pages of a list by number. */
export function PageLinks({ page, pages, pathOf }: PageLinksProps): VNode | null {
  const { t, text, integer } = usePage();
  if (pages <= 1) return null;
  return (
    <nav class="pages" aria-label={text('list.pages')}>
      {page > 1 && (
        <a class="button quiet" rel="prev" href={pathOf(page - 1)}>
          {t('list.previous')}
        </a>
      )}
      <ol>
        {listShownPages(page, pages).map((number, i, shown) => (
          <li key={number}>
            {i > 0 && number - (shown[i - 1] ?? 0) > 1 && <span aria-hidden="true">…</span>}
            <a href={pathOf(number)} aria-current={number === page ? 'page' : undefined}>
              {integer(number)}
            </a>
          </li>
        ))}
      </ol>
      {page < pages && (
        <a class="button quiet" rel="next" href={pathOf(page + 1)}>
          {t('list.next')}
        </a>
      )}
    </nav>
  );
}

/** Returns the first page, the last one, and those around this one. */
function listShownPages(page: number, pages: number): number[] {
  const numbers = [1, page - 1, page, page + 1, pages];
  return [...new Set(numbers)].filter((number) => number >= 1 && number <= pages);
}
