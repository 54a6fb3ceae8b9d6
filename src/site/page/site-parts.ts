import type { ReadonlyCounts } from '../../bot/counts.ts';
import type { BotId } from '../../bot/id.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ReadonlyChanges } from '../../catalogue/changes/change-index.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import type { Lists } from '../../catalogue/lists/lists.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import type { Blocked } from '../../catalogue/settings/blocked.ts';
import type { BotIndex } from '../../catalogue/store/bot-index.ts';
import type { ReadonlyCountHistory } from '../../counts/count-history.ts';
import type { ShareCards } from '../../images/share-cards.ts';
import type { CurrentCache } from '../../lib/current-cache.ts';
import type { OpenProposals } from '../../proposals/open.ts';
import type { Proposal } from '../../proposals/proposal.ts';
import type { VisitorReports } from '../../proposals/visitor-reports.ts';
import type { FindCopy } from '../markdown/markdown-images.ts';
import type { Markdown } from '../markdown/markdown.ts';
import type { PageOptions } from './layout.tsx';

/** What the pages of a site are made from. */
export interface SiteParts extends PageOptions, Pick<OpenProposals, 'proposals' | 'drafts' | 'notify'> {
  /** Keeps what is made from the others. */
  readonly cache: CurrentCache;
  readonly bots: BotIndex;
  readonly lists: Lists;
  readonly authors: AuthorIndex;
  readonly collections: Pick<Catalogue['collections'], 'all'>;
  readonly counts: ReadonlyCounts;
  readonly changes: ReadonlyChanges;
  readonly countHistory: ReadonlyCountHistory;
  readonly markdown: Markdown;
  /** Returns the address of the pull request of an open proposal; undefined if there is none. */
  readonly pullRequestOf: (proposal: Proposal) => string | undefined;
  /** The reports of visitors that this machine has: `VisitorReportList` shows them. */
  readonly reports: Pick<VisitorReports, 'add' | 'list' | 'remove'>;
  /** Returns who is blocked; null if nobody can tell. */
  readonly blocked: () => Blocked | null;
  /** Finds the copy of an image in a page. */
  readonly copyOf: FindCopy;
  /** Pictures of bots for previews of links; null if no images are made. */
  readonly shareCards: Pick<ShareCards, 'get'> | null;
  /** The faults of a bot's files. */
  readonly faultsOf: (id: BotId) => readonly Fault[];
  /** Returns the text of a file of the catalogue as it is on disk, by its path; undefined if it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
}
