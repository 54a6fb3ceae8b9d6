import { join } from 'node:path';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { readCommittedSettings } from '../catalogue/settings/settings.ts';
import type { Clone } from '../git/branch/clone.ts';
import type { Committer } from '../git/branch/committer.ts';
import { readConfirmedTime } from '../git/history.ts';
import { messageOf } from '../lib/errors.ts';
import { describeFailure, type Health, listFaults } from '../lib/health.ts';
import type { Log } from '../lib/log.ts';
import type { Sync } from '../sync/sync.ts';
import { Drafts } from './dated-files.ts';
import { createHostReview, type HostReview, type HostReviewConfig } from './host-review.ts';
import { createProposalNotice, type Notice, notifyFaults, Notifications } from './notifications.ts';
import { notShared } from './proposal.ts';
import { Proposals } from './proposals.ts';
import { SharedProposals } from './shared-proposals.ts';
import { VisitorReports } from './visitor-reports.ts';

/** The messages of people to the maintainers: proposals of changes, and reports. */
export interface OpenProposals {
  /** Null if nobody can log in, or proposals are turned off. */
  readonly proposals: Proposals | null;
  /** Null without a remote or without proposals. */
  readonly sharedProposals: SharedProposals | null;
  /** Null if proposals are not reviewed at the Git host. */
  readonly hostReview: HostReview | null;
  /** Forms that are kept while people log in; null without proposals. */
  readonly drafts: Drafts | null;
  readonly reports: VisitorReports;
  /** Sends a notice to the maintainers; does nothing without an address. */
  readonly notify: (notice: Notice) => void;
  health(): Health;
  /** Reads the proposals, and sends notices from then on. Call it once the catalogue is served. */
  start(): Promise<void>;
  close(): Promise<void>;
}

interface OpenProposalsOptions extends Pick<Clone, 'repositoryOpener' | 'branch' | 'remotePlace'> {
  readonly config: HostReviewConfig & { readonly var: string; readonly notifyUrl: string | null };
  readonly catalogue: Pick<Catalogue, 'blocked' | 'store'>;
  readonly committer: Pick<Committer<never>, 'move'>;
  /** Null without a remote. */
  readonly sync: Sync | null;
  /** Null if nobody can log in. */
  readonly login: { readonly disabledReason: string | null } | null;
  readonly log: Log;
}

/** @throws {UserError} if the settings do not name a known Git host */
export async function openProposals(options: OpenProposalsOptions): Promise<OpenProposals> {
  const { config, repositoryOpener, branch, remotePlace, catalogue, committer, sync, login, log } = options;
  const { notifyUrl, baseUrl } = config;
  const notifications = notifyUrl === null ? null : new Notifications({ url: notifyUrl, log });
  const notify = (notice: Notice): void => notifications?.notify(notice);
  const confirmedTime = async (): Promise<number> => await readConfirmedTime(await repositoryOpener.open());
  const reports = await VisitorReports.open(join(config.var, 'reports'), log, confirmedTime);
  const proposals =
    login?.disabledReason !== null || config.proposals === 'off'
      ? null
      : new Proposals({
          repositoryOpener,
          committer,
          settings: async () => await readCommittedSettings(repositoryOpener),
          blocked: () => catalogue.blocked.current,
          needsMaintainer: config.proposals === 'site',
          log,
        });
  const sharedProposals = proposals && sync && new SharedProposals(proposals, sync, log);
  if (sharedProposals) proposals?.connect(sharedProposals);
  proposals?.subscribe((proposal) => {
    const notice = createProposalNotice(proposal, baseUrl, config.proposals === 'site');
    if (notice !== null) notify(notice);
  });
  if (proposals) branch.add(proposals);
  const hostReview = createHostReview(config, remotePlace, proposals, repositoryOpener, log);
  const drafts = proposals && (await Drafts.open(join(config.var, 'drafts'), confirmedTime));
  let endFaultNotices: (() => void) | undefined;
  return {
    proposals,
    sharedProposals,
    hostReview,
    drafts,
    reports,
    notify,
    health: () => ({
      ...(sharedProposals && {
        remote: { ready: true, faults: listFaults(describeFailure(notShared, sharedProposals.failure)) },
      }),
      ...(hostReview && { host: { ready: true, faults: listFaults(hostReview.failure?.message) } }),
    }),
    start: async () => {
      if (notifications) endFaultNotices = notifyFaults(catalogue.store, baseUrl, notify);
      await proposals?.load().catch((error: unknown) => {
        const message = `the proposals could not be read: ${messageOf(error)}; retrying when one is sent`;
        log.error({ err: error }, message);
      });
      if (proposals) branch.start(proposals);
      hostReview?.start();
    },
    close: async () => {
      endFaultNotices?.();
      await hostReview?.close();
      await notifications?.close();
    },
  };
}
