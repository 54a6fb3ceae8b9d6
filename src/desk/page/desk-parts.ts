import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { OpenCounts } from '../../counts/counts.ts';
import type { RepositoryOpener } from '../../git/repository.ts';
import type { OpenImages } from '../../images/images.ts';
import type { Log } from '../../lib/log.ts';
import type { DemoPerson } from '../../login/demo-provider.ts';
import type { Login } from '../../login/login.ts';
import type { OpenProposals } from '../../proposals/open.ts';
import type { Proposals } from '../../proposals/proposals.ts';
import type { ListOwn } from '../../site/discover/attention.ts';
import type { PageParts } from '../../site/page/page-context.tsx';
import type { Tokens } from '../../tokens/tokens.ts';

/** The parts of the service that the pages behind forms and logins depend on. */
export interface DeskParts
  extends
    PageParts,
    Pick<Catalogue, 'settings' | 'blocked'>,
    Pick<OpenCounts, 'state'>,
    Pick<OpenProposals, 'hostReview' | 'drafts' | 'reports' | 'notify'> {
  readonly config: {
    readonly demo: { readonly people: readonly DemoPerson[] } | null;
    /** The private block list; null if the list is in the repository. */
    readonly blocked: string | null;
  };
  readonly store: Catalogue['store'];
  /** Returns the text of a file of the catalogue on disk, by path; undefined if it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  readonly ownAttention: ListOwn;
  readonly repositoryOpener: RepositoryOpener;
  /** Null if nobody can log in. */
  readonly login: Login | null;
  readonly tokens: Tokens;
  /** Null if images are not cached. */
  readonly images: OpenImages['cache'] | null;
  readonly log: Log;
}

/** The parts if the service takes proposals. */
export interface ProposalParts extends DeskParts {
  readonly proposals: Proposals;
  readonly drafts: NonNullable<OpenProposals['drafts']>;
}
