import type { RenderableProps, VNode } from 'preact';
import { keepByLocale, type Locale } from '../../bot/locale.ts';
import type { PageLanguage } from '../language/languages.ts';
import { type Site, usePage } from './page-context.tsx';
import { type LanguageAddress, listLanguages, sitePaths, toPathInLanguage, withLocale } from './addresses.ts';
import { assets, createOwnAssets } from './assets.ts';

/** Keeps a page out of search engines. */
function NoIndex(): VNode {
  return <meta name="robots" content="noindex" />;
}

interface HeadProps {
  readonly title: string;
  /** Undefined for a page that search engines do not list and nobody shares, such as an error. */
  readonly meta: PageMeta | undefined;
  /** Whether search engines may not list the page. For a page with `meta`, `meta` decides. */
  readonly isUnlisted: boolean;
}

/** The head of a page. @param props.children its scripts */
export function Head({ title, meta, isUnlisted, children }: RenderableProps<HeadProps>): VNode {
  const { site, text, locale, href } = usePage();
  const { name, language } = site.settings;
  const { colours, logo } = createOwnAssets(site.settings);
  const icon = logo ?? assets.icon;
  const inLanguage = (path: string): string => href(toPathInLanguage(path, locale, language));
  return (
    <head>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{title}</title>
      <link rel="stylesheet" href={href(assets.stylesheet.path)} />
      <link rel="preload" as="font" type="font/woff2" href={href(assets.font.path)} crossOrigin="anonymous" />
      {colours && <link rel="stylesheet" href={href(colours.path)} />}
      <meta name="theme-color" media="(prefers-color-scheme: light)" content="#dde9cf" />
      <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#1e281d" />
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
      {isUnlisted && <NoIndex />}
      {children}
    </head>
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
  const { address, title, description, isListed = true, languages = [], image, feed, data = [] } = meta;
  return (
    <>
      <meta name="description" content={description} />
      <link rel="canonical" href={address} />
      {!isListed && <NoIndex />}
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
      {data.map((thing) => {
        // Escaped, so that no text can end the element or begin a comment.
        const json = JSON.stringify({ '@context': 'https://schema.org', ...thing })
          .replaceAll('<', '\\u003c')
          .replaceAll('>', '\\u003e');
        const html = { __html: json };
        return <script key={thing['@type']} type="application/ld+json" dangerouslySetInnerHTML={html} />;
      })}
    </>
  );
}

/** Returns a language with a territory in the form of Open Graph, such as pt_BR. */
const toTerritoryLocale = keepByLocale((tag) => {
  const { language, region } = new Intl.Locale(tag).maximize();
  return region === undefined ? language : `${language}_${region}`;
});

/** The description of a page for search engines, and for programs that show previews of links. */
export interface PageMeta {
  /** The preferred address of the page. */
  readonly address: string;
  readonly title: string;
  readonly description: string;
  /** The name of its author. */
  readonly author?: string;
  /** The language of title and description. */
  readonly locale: string;
  /** The page in all of its languages, if it has more than one. */
  readonly languages?: readonly LanguageAddress[];
  /** An image that may be shown to anyone. A wide one is shown above the text. */
  readonly image?: { readonly address: string; readonly alt: string; readonly isWide: boolean } | undefined;
  readonly isAdult?: boolean;
  /** Whether search engines may list it; by default they may. */
  readonly isListed?: boolean;
  /** A feed for this page, in addition to that of all new bots. */
  readonly feed?: { readonly title: string; readonly path: string } | undefined;
  /** Things in the form of schema.org. */
  readonly data?: readonly LinkedData[];
}

/** Describes a page that is in the languages of the interface. @param address without a language */
export function createOwnMeta(
  address: string,
  { requested, locale, locales }: Pick<PageLanguage, 'requested' | 'locale' | 'locales'>,
  texts: Pick<PageMeta, 'title' | 'description'>,
): PageMeta {
  const toAddress = (tag: Locale | undefined): string => withLocale(address, tag);
  return {
    ...texts,
    address: toAddress(requested === locale ? locale : undefined),
    locale,
    languages: listLanguages(locales, toAddress),
  };
}

export type LinkedData = Readonly<Record<string, unknown>>;

/** Describes the path from the front page to a page, which is the last of `crumbs`. */
export function createBreadcrumbData(
  { canonicalUrl, settings }: Pick<Site, 'canonicalUrl' | 'settings'>,
  ...crumbs: readonly { readonly name: string; readonly address: string }[]
): LinkedData {
  const all = [{ name: settings.name, address: `${canonicalUrl}/` }, ...crumbs];
  return {
    '@type': 'BreadcrumbList',
    itemListElement: all.map(({ name, address }, i) => {
      return { '@type': 'ListItem', position: i + 1, name, item: address };
    }),
  };
}

/** Describes the site and how to search it. */
export function createSiteData(baseUrl: string, name: string, description: string): LinkedData {
  return {
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
