import type { LanguageAddress } from './addresses.ts';
import type { Site } from './layout.tsx';

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
