import type { ReadonlyCounts } from '../../bot/counts.ts';
import type { BotId } from '../../bot/id.ts';
import type { ReadonlyChanges } from '../../catalogue/changes/change-index.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import type { Lists } from '../../catalogue/lists/lists.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import type { Blocked } from '../../catalogue/settings/blocked.ts';
import type { BotIndex } from '../../catalogue/store/bot-index.ts';
import type { Collections } from '../../catalogue/store/side-mirrors.ts';
import type { ReadonlyCountHistory } from '../../counts/count-history.ts';
import type { ShareCards } from '../../images/share-cards.ts';
import type { CurrentCache } from '../../lib/current-cache.ts';
import type { Notice } from '../../proposals/notifications.ts';
import type { Drafts } from '../../proposals/drafts.ts';
import type { Proposal } from '../../proposals/proposal.ts';
import type { Proposals } from '../../proposals/proposals.ts';
import type { VisitorReports } from '../../proposals/visitor-reports.ts';
import type { Markdown } from '../markdown/markdown.ts';
import type { FindCopy } from '../markdown/markdown-images.ts';
import type { PageOptions } from './layout.tsx';

/** What the pages of a site are made from. */
export interface SiteParts extends PageOptions {
  /** Keeps what is made from the others. */
  readonly cache: CurrentCache;
  readonly bots: BotIndex;
  readonly lists: Lists;
  readonly authors: AuthorIndex;
  readonly collections: Pick<Collections, 'all'>;
  readonly counts: ReadonlyCounts;
  readonly changes: ReadonlyChanges;
  readonly countHistory: ReadonlyCountHistory;
  readonly markdown: Markdown;
  /** The proposals that people send and maintainers review; null where nobody can log in, or they are off. */
  readonly proposals: Proposals | null;
  /** Returns the address of the pull request of an open proposal; undefined where there is none. */
  readonly pullRequestOf: (proposal: Proposal) => string | undefined;
  /** The reports of visitors that this machine has: `VisitorReportList` shows them. */
  readonly reports: Pick<VisitorReports, 'add' | 'list' | 'remove'>;
  /** Tells the people who run the list; does nothing where no address is set. */
  readonly notify: (notice: Notice) => void;
  /** Forms that are kept while people log in; null where there are no proposals. */
  readonly drafts: Drafts | null;
  /** Returns who is blocked; null where nobody can tell. */
  readonly blocked: () => Blocked | null;
  /** Finds the copy of an image in a page. */
  readonly copyOf: FindCopy;
  /** Pictures of bots for previews of links; null where no images are made. */
  readonly shareCards: Pick<ShareCards, 'get'> | null;
  /** The faults of a bot's files. */
  readonly faultsOf: (id: BotId) => readonly Fault[];
  /** Returns the text of a file of the catalogue as it is on disk, by its path; undefined where it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
}
