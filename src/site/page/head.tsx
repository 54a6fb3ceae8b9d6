import type { ComponentChildren, VNode } from 'preact';
import { keepByLocale } from '../../bot/locale.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { useLanguage } from '../language/page-language.tsx';
import { toPathInLanguage, sitePaths, type LanguageAddress } from './addresses.ts';
import { type Asset, assets, createOwnAssets } from './assets.ts';
import type { Site } from './layout.tsx';

interface HeadProps {
  readonly site: Pick<Site, 'settings'>;
  readonly icon: Pick<Asset, 'path' | 'type'>;
  /** Undefined for a page that no search engine lists and nobody shares, such as an error. */
  readonly meta: PageMeta | undefined;
}

/** Keeps a page out of search engines. */
export function NoIndex(): VNode {
  return <meta name="robots" content="noindex" />;
}

/** The head of every document; `children` are what a kind of documents has besides. */
export function DocumentHead(props: {
  readonly settings: CatalogueSettings;
  readonly title: string;
  readonly children: ComponentChildren;
}): VNode {
  const { href } = useLanguage();
  const { colours } = createOwnAssets(props.settings);
  return (
    <head>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{props.title}</title>
      <link rel="stylesheet" href={href(assets.stylesheet.path)} />
      {colours && <link rel="stylesheet" href={href(colours.path)} />}
      {props.children}
    </head>
  );
}

/** What the head of a page has besides its title, styles and scripts. */
export function Head({ site, icon, meta }: HeadProps): VNode {
  const { text, locale, href } = useLanguage();
  const { name, language } = site.settings;
  const inLanguage = (path: string): string => href(toPathInLanguage(path, locale, language));
  return (
    <>
      <meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff" />
      <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#1b1d24" />
      <link rel="icon" href={href(sitePaths.favicon)} sizes="32x32" />
      <link rel="icon" type={icon.type} href={href(icon.path)} />
      <link rel="apple-touch-icon" href={href(sitePaths.touchIcon)} />
      <link rel="manifest" href={inLanguage(sitePaths.manifest)} />
      <link
        rel="search"
        type="application/opensearchdescription+xml"
        title={name}
        href={inLanguage(sitePaths.openSearch)}
      />
      <FeedLink title={text('feed.newBots')} href={inLanguage(sitePaths.newBots)} />
      {meta && <Meta {...{ product: name, meta, inLanguage }} />}
    </>
  );
}

function FeedLink({ title, href }: { readonly title: string; readonly href: string }): VNode {
  return <link rel="alternate" type="application/atom+xml" title={title} href={href} />;
}

interface MetaProps {
  /** The name of the site. */
  readonly product: string;
  readonly meta: PageMeta;
  readonly inLanguage: (path: string) => string;
}

function Meta({ product, meta, inLanguage }: MetaProps): VNode {
  const { address, title, description, languages = [], image, feed, data = [] } = meta;
  return (
    <>
      <meta name="description" content={description} />
      <link rel="canonical" href={address} />
      {!meta.isListed && <NoIndex />}
      {meta.author && <meta name="author" content={meta.author} />}
      {meta.isAdult && <meta name="rating" content="adult" />}
      {languages.map((other) => (
        <link key={other.language} rel="alternate" hreflang={other.language} href={other.address} />
      ))}
      {feed && <FeedLink title={feed.title} href={inLanguage(feed.path)} />}
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={product} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:url" content={address} />
      <meta property="og:locale" content={toTerritoryLocale(meta.locale)} />
      {image && <meta property="og:image" content={image.address} />}
      {image && <meta property="og:image:alt" content={image.alt} />}
      <meta name="twitter:card" content={image?.isWide === true ? 'summary_large_image' : 'summary'} />
      {data.map((thing) => (
        <script
          key={thing['@type']}
          type="application/ld+json"
          dangerouslySetInnerHTML={{ __html: printData(thing) }}
        />
      ))}
    </>
  );
}

/** Prints data for a `script` element: no text in it can end the element or begin a comment. */
function printData(data: LinkedData): string {
  return JSON.stringify(data).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');
}

/** Returns a language with a territory, such as pt_BR, as Open Graph names it. */
const toTerritoryLocale = keepByLocale((tag) => {
  const { language, region } = new Intl.Locale(tag).maximize();
  return region === undefined ? language : `${language}_${region}`;
});

/** What a page says about itself to search engines and to programs that show a preview of a link. */
export interface PageMeta {
  /** The preferred address of the page. */
  readonly address: string;
  readonly title: string;
  readonly description: string;
  /** What its authors are called. */
  readonly author?: string;
  /** The language of title and description. */
  readonly locale: string;
  /** The page in all of its languages, where it has more than one. */
  readonly languages?: readonly LanguageAddress[];
  /** One that may be shown to anyone, and whether it is wide, and shown above the text. */
  readonly image?: { readonly address: string; readonly alt: string; readonly isWide: boolean } | undefined;
  readonly isAdult?: boolean;
  /** Whether search engines may list it. */
  readonly isListed: boolean;
  /** A feed for this page besides that of all new bots. */
  readonly feed?: { readonly title: string; readonly path: string } | undefined;
  /** Things as schema.org describes them. */
  readonly data?: readonly LinkedData[];
}

export type LinkedData = Readonly<Record<string, unknown>>;

/** Describes the way from the front page to a page, which is the last of `crumbs`. */
export function createBreadcrumbData(
  { canonicalUrl, settings }: Pick<Site, 'canonicalUrl' | 'settings'>,
  ...crumbs: readonly { readonly name: string; readonly address: string }[]
): LinkedData {
  const all = [{ name: settings.name, address: `${canonicalUrl}/` }, ...crumbs];
  return {
    '@context': 'https://schema.org',
    '@type': 'BreadcrumbList',
    itemListElement: all.map(({ name, address }, i) => {
      return { '@type': 'ListItem', position: i + 1, name, item: address };
    }),
  };
}

/** Describes the site and how to search it. */
export function createSiteData(baseUrl: string, name: string, description: string): LinkedData {
  return {
    '@context': 'https://schema.org',
    '@type': 'WebSite',
    url: `${baseUrl}/`,
    name,
    description,
    potentialAction: {
      '@type': 'SearchAction',
      target: { '@type': 'EntryPoint', urlTemplate: `${baseUrl}/?q={search_term_string}` },
      'query-input': 'required name=search_term_string',
    },
  };
}
