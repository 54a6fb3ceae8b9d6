import type { Context } from 'koa';
import { createContext, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { AccountId } from '../../bot/commit-message.ts';
import type { Catalogue, OpenCatalogue } from '../../catalogue/catalogue.ts';
import type { BlockedName } from '../../catalogue/settings/blocked.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import type { ReadonlyCountHistory } from '../../counts/count-history.ts';
import type { OpenCounts } from '../../counts/counts.ts';
import type { ShareCards } from '../../images/share-cards.ts';
import type { OpenProposals } from '../../proposals/open.ts';
import type { Proposal } from '../../proposals/proposal.ts';
import type { Languages, PageLanguage } from '../language/languages.ts';
import type { FindImage, Markdown } from '../markdown/markdown.ts';
import type { RepositoryLinks } from './repository-links.ts';

/** A person who is logged in. */
export interface Viewer {
  /** The account's ID, as in a bot's `authors`. */
  readonly id: AccountId;
  readonly name: string;
  /** When the provider last authenticated the person, in milliseconds since the epoch. */
  readonly authenticatedAt: number;
  /** The number of proposals that wait for a decision; left out for an account that may not review. */
  readonly toReview?: number;
  /** The account's proposals that were decided since it last read the answers. */
  readonly answered?: readonly Proposal[];
  /** Why the service refuses the account; undefined if it is not blocked. */
  readonly blocked?: BlockedName | undefined;
}

/** The properties that all pages of a site share. */
export interface Site {
  /** The public address, without a final slash. */
  readonly baseUrl: string;
  /** The address of the original if this is a copy of a list; otherwise the same. */
  readonly canonicalUrl: string;
  /** Whether there are forms: here, or for a copy at the original. */
  readonly hasForms: boolean;
  /** The settings in force. */
  readonly settings: CatalogueSettings;
  readonly languages: Languages;
  /** Whether there is a login: here, or for a copy perhaps at the original. */
  readonly login: boolean;
  /** The web pages of the catalogue's repository; null if unknown. */
  readonly repository: RepositoryLinks | null;
  /** How to reach the operator of the service; null if not configured. */
  readonly contact: string | null;
  /** Whether open pages reload when a file of the catalogue changes. */
  readonly live: boolean;
  /** Whether every page says that the bots are invented. */
  readonly demo: boolean;
}

/** The parts of the service that public pages depend on. */
export interface PageParts
  extends
    Pick<OpenCatalogue, 'bots' | 'lists' | 'authors' | 'changes' | 'cache'>,
    Pick<OpenCounts, 'counts'>,
    Pick<OpenProposals, 'proposals'> {
  readonly site: Site;
  /** Reads the logged-in viewer. */
  readonly viewerOf: (ctx: Context) => Promise<Viewer | null>;
  readonly store: Pick<Catalogue['store'], 'faultsOf'>;
  readonly collections: Pick<Catalogue['collections'], 'all'>;
  readonly countHistory: ReadonlyCountHistory;
  readonly markdown: Markdown;
  /** Returns our copy of an image; undefined without a copy. */
  readonly findImage: FindImage;
  /** Null if images are not made. */
  readonly shareCards: Pick<ShareCards, 'get'> | null;
}

/** The site and the viewer of a request; null for a visitor who is not logged in. */
export interface Visit {
  readonly site: Site;
  readonly viewer: Viewer | null;
}

/** A page in a language for a visit: the texts and formats of the language, the site and the viewer. */
export interface PageContext extends PageLanguage, Visit {}

const context = createContext<PageContext | null>(null);

/** Returns a page whose components use this visit and this language. */
export function providePage(visit: Visit, language: PageLanguage, page: VNode): VNode {
  return <context.Provider value={{ ...language, ...visit }}>{page}</context.Provider>;
}

/** Returns the language of the page that is being rendered, with the site and the viewer. Only for components. */
export function usePage(): PageContext {
  const page = useContext(context);
  if (page === null) throw new Error('a component is rendered outside of providePage');
  return page;
}
