import { BotshelfError, isError } from '../lib/errors.ts';
import { computeTimeAfter, msPerDay, msPerHour } from '../bot/clock.ts';
import type { AccountId } from '../bot/commit-message.ts';
import {
  type Blocked,
  type BlockedChange,
  BlockError,
  findBlocked,
  nothingBlocked,
  planBlockedCommit,
  requireBlocked,
} from '../catalogue/settings/blocked.ts';
import { type CatalogueSettings, toSettings } from '../catalogue/settings/settings.ts';
import { blockedRule, type Finding } from '../check/check.ts';
import type { BranchConsumer } from '../git/branch/feed.ts';
import { writeCommit, toNewFile } from '../git/commit-files.ts';
import { type Committer, readTip } from '../git/branch/committer.ts';
import { diffTrees, isAncestor, ignoreDiffLimit, readTreeId } from '../git/history.ts';
import { removeLeftovers } from '../git/leftovers.ts';
import { moveRefs, type Repository, type RepositoryOpener, toUnavailableError } from '../git/repository.ts';
import type { Log } from '../lib/log.ts';
import { tryRemote } from '../lib/retry.ts';
import { FairQueue } from '../lib/serial-queue.ts';
import {
  describeChange,
  mergeProposal,
  type MergedProposal,
  readProposedTexts,
  withEdited,
  checkMerged,
  ensureFaultless,
  ensureMaySend,
  ensureMerged,
  ensureRoom,
  ensureShort,
  ensureVersion,
  findKind,
  findPolicy,
  isReviewed,
  type ProposalKind,
} from './merged-proposal.ts';
import { mergeRefs, type MovedRef, ProposalRefs, readSteps } from './proposal-refs.ts';
import {
  type ProposalPolicy,
  type SentProposal,
  formatOpenRef,
  type PastStep,
  type Person,
  type Proposal,
  type ProposalStep,
  ProposalError,
  type FileTexts,
  canTakeBack,
  findSubject,
  isSubmission,
  readFileTexts,
  type Subject,
  toQueueTime,
  toSubjectFolder,
} from './proposal.ts';

/** The proposals of the other machines, which the remote has. */
export interface RemoteProposals {
  /** Fetches them and merges them into ours. @throws {Error} whose message says why the remote cannot be reached */
  fetchProposals(): Promise<void>;
  /**
   * Pushes ours, merged with the remote's.
   * @param claimed the version that was taken for a decision, which has been made or given up
   * @throws {Error} as fetchProposals
   */
  pushProposals(claimed?: string): Promise<void>;
  /**
   * Takes an open proposal from the remote, so that no other machine decides about this version; the next push brings it
   * back. Returns false if another machine has changed or taken it. @throws {Error} as fetchProposals
   */
  claimProposal(proposal: Proposal): Promise<boolean>;
  /** Returns whether a machine, also this one, has just taken this version of a proposal to decide about it. */
  isClaimed(proposal: Proposal): boolean;
  /** Waits while the machine that has taken a proposal is about to share what it decides. @throws as fetchProposals does */
  waitForDecision(proposal: Proposal): Promise<void>;
}

export interface ProposalsOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly committer: Pick<Committer<never>, 'move'>;
  /** Reads the settings of the last commit, which say who reviews; undefined if they have a fault. */
  readonly settings: () => Promise<CatalogueSettings | undefined>;
  /** Returns who is blocked; null if nobody can tell: then nothing is taken. */
  readonly blocked: () => Blocked | null;
  /** Whether nothing is taken while the settings name no maintainer. */
  readonly needsMaintainer: boolean;
  readonly log: Log;
}

/** Makes a step of a proposal. @param current the open proposal, if there is one */
type ProposalWork = (repository: Repository, current: Proposal | undefined) => Promise<Proposal>;

/** What a maintainer decides. */
export interface Decision {
  readonly state: 'accepted' | 'changes-asked' | 'declined';
  readonly reviewer: Person;
  /** The version that the maintainer saw. */
  readonly version: string;
  readonly reason: string | null;
  readonly text: string;
}

/** What was decided at the Git host. */
export interface HostDecision {
  readonly state: 'accepted' | 'declined';
  /** What the proposer reads. */
  readonly text: string;
  /** The commit of the branch that has it, where it was accepted. */
  readonly commit: string | null;
}

/** A step that is saved here, and whether the other machines can fetch it: not while the remote is unreachable. */
export interface SavedStep {
  readonly proposal: Proposal;
  readonly shared: boolean;
}

/** All of a proposal, merged with the branch as it is now. */
export interface ProposalDetails extends MergedProposal {
  readonly proposal: Proposal;
  /** The last one first. */
  readonly steps: readonly PastStep[];
  /** All files of the subject in the commit that the proposal changes. */
  readonly former: FileTexts;
  /** The files as they were sent. */
  readonly sent: FileTexts;
  readonly kind: ProposalKind;
  readonly findings: readonly Finding[];
}

/**
 * Proposals of changes, and decisions about them. A proposal is a commit on a ref (proposal.ts); there is no other store.
 * Each step is durable when its promise resolves.
 */
export class Proposals implements BranchConsumer {
  readonly failed = (message: string): string =>
    `could not compare the proposals with the branch: ${message}; those that it has stay open, retrying`;
  readonly ended = 'the proposals are compared with the branch again';
  readonly #options: ProposalsOptions;
  readonly #queue = new FairQueue(maxWaiting);
  readonly #refs = new ProposalRefs();
  #isLoaded = false;
  readonly #listeners: ((proposal: Proposal) => void)[] = [];
  #remote: RemoteProposals | null = null;
  /** The tip of the branch when it was last compared with the proposals, and those that were. */
  #comparedTip: string | null = null;
  readonly #compared = new WeakSet<Proposal>();
  #comparing: Promise<void> | undefined;

  constructor(options: ProposalsOptions) {
    this.#options = options;
  }

  /** The open proposals, in the order in which they were first sent. */
  get open(): readonly Proposal[] {
    return this.#refs.open;
  }

  /** Those of the open proposals that wait for a decision. */
  get waiting(): readonly Proposal[] {
    return this.open.filter(({ state }) => state === 'waiting');
  }

  /** Connects the proposals of other machines. */
  connect(remote: RemoteProposals): void {
    this.#remote = remote;
  }

  /** Calls `listener` after each step that is made here. */
  subscribe(listener: (proposal: Proposal) => void): void {
    this.#listeners.push(listener);
  }

  find(subject: Subject, account: AccountId): Proposal | undefined {
    return this.#refs.get(formatOpenRef(subject, account));
  }

  /** Returns the open proposal of an account for a bot, else the last one. */
  findLast(subject: Subject, account: AccountId): Proposal | undefined {
    return (
      this.find(subject, account) ?? this.listOf(account).find((proposal) => proposal.subject === subject)
    );
  }

  /** Returns the proposals of an account, open and closed, the one that was sent last first. */
  listOf(account: AccountId): readonly Proposal[] {
    return this.#refs.listOf(account).toSorted((a, b) => b.sentAt - a.sentAt || (a.ref < b.ref ? 1 : -1));
  }

  /** Returns the proposals of an account that others have decided about after a time, in milliseconds since the epoch. */
  listAnswered(account: AccountId, time: number): readonly Proposal[] {
    return this.#refs.listOf(account).filter((proposal) => isAnswered(proposal) && proposal.at > time);
  }

  /** Returns what was decided in the last 90 days, the last decision first. */
  listDecided(): readonly Proposal[] {
    return [...this.open, ...this.listClosedSince(0)].filter(isAnswered).toSorted((a, b) => b.at - a.at);
  }

  /** Returns the proposals that ended after a time, in milliseconds since the epoch. */
  listClosedSince(time: number): readonly Proposal[] {
    return this.#refs.listClosedSince(time);
  }

  /**
   * Returns how long reviewers took to decide in the last 30 days, from when a proposal was first sent: the median in whole
   * hours, as milliseconds; undefined for fewer than five decisions.
   */
  medianWaitMs(): number | undefined {
    const waits = this.#refs
      .listClosedSince(Date.now() - 30 * msPerDay)
      .filter(({ state, reviewer }) => state !== 'withdrawn' && reviewer !== null)
      .map((proposal) => (proposal.closedAt ?? 0) - toQueueTime(proposal))
      .toSorted((a, b) => a - b);
    if (waits.length < minDecisions) return undefined;
    const median = waits[Math.floor(waits.length / 2)] ?? 0;
    return Math.max(Math.ceil(median / msPerHour), 1) * msPerHour;
  }

  /** Reads the refs, and deletes what ended 90 days ago. @throws {BotshelfError} unavailable */
  async load(): Promise<void> {
    this.#isLoaded = false;
    await this.#run(async () => {});
  }

  /** Merges the remote's proposals, as they were fetched, and returns what it lacks. @throws as load does */
  async mergeFetched(): Promise<readonly MovedRef[]> {
    return await this.#run(async (repository) => {
      const { isMoved, toPush } = await mergeRefs(repository);
      if (isMoved) await this.#refs.load(repository);
      return toPush;
    });
  }

  /** Closes what the branch has now. @throws as closeAccepted */
  async handle(): Promise<void> {
    // The one under way may have read an earlier tip.
    await this.#comparing?.catch(() => undefined);
    await this.closeAccepted();
  }

  /**
   * Closes, as accepted, the proposals that the branch has, after a crash, or a merge of other machines: a few at a time,
   * so that steps come in between. @throws {GitError} {BotshelfError} unavailable
   */
  async closeAccepted(): Promise<void> {
    this.#comparing ??= this.#compareWithBranch().finally(() => (this.#comparing = undefined));
    await this.#comparing;
  }

  /** Returns the commit that `read` merges with: the result is the same while it and the version are. @throws as read does */
  async readTip(): Promise<string> {
    return await this.#open(readTip);
  }

  /** Reads all of a proposal. @throws {BotshelfError} unavailable */
  async read(proposal: Proposal): Promise<ProposalDetails> {
    return await this.#open(async (repository) => {
      const merged = await mergeProposal(repository, await readTip(repository), proposal);
      const { former, proposed } = await readProposedTexts(repository, proposal);
      return {
        ...merged,
        proposal,
        steps: await readSteps(repository, proposal.version),
        former,
        sent: proposed,
        kind: findKind(proposal.subject, merged.before, proposal.proposer.id),
        findings: checkMerged(
          proposal,
          merged,
          await this.#settings(),
          this.#options.blocked() ?? nothingBlocked,
        ),
      };
    });
  }

  /**
   * Returns what is done with a proposal of an account for a bot. For forms: `send` decides, by the last commit.
   * @param settings those in force
   * @param authors of the bot as it is listed; null for one that is new
   * @param account null for somebody who has yet to log in, and may be an author
   */
  findPolicy(
    settings: CatalogueSettings,
    authors: readonly string[] | null,
    account: AccountId | null,
  ): ProposalPolicy {
    if (authors === null) return this.#findPolicy(settings, ['newBots']);
    const isAuthor = account !== null && authors.includes(account);
    return this.#findPolicy(
      settings,
      account === null ? ['authors', 'others'] : [isAuthor ? 'authors' : 'others'],
    );
  }

  #findPolicy(settings: CatalogueSettings, kinds: readonly ProposalKind[]): ProposalPolicy {
    const isClosed = this.#options.needsMaintainer && settings.maintainers.length === 0;
    return isClosed ? 'off' : findPolicy(settings, kinds);
  }

  /**
   * Saves a proposal, or a new version of it. One that needs no review is published immediately.
   * @throws {ProposalError} off, blocked, new-account, too-many-open, too-many-sent, too-many-in-all, too-large,
   * unchanged, conflict, faulty
   * @throws {BotshelfError} unavailable
   */
  async send(sent: SentProposal): Promise<SavedStep> {
    const { subject, proposer, note, sentAt = Date.now() } = sent;
    const blocked = requireBlocked(this.#options.blocked());
    return await this.#transact(subject, proposer.id, null, async (repository, previous) => {
      const settings = await this.#settings();
      const tip = await readTip(repository);
      const before = await readFileTexts(repository, tip, subject);
      const policy = this.#findPolicy(settings, [findKind(subject, before, proposer.id)]);
      if (policy === 'off') throw new ProposalError('off');
      if (previous === undefined) ensureRoom(this.open, proposer.id);
      ensureMaySend(sent, settings, await this.#countSent(repository, proposer.id));
      const former = previous && (await mergeProposal(repository, tip, previous));
      const others = new Map([...(former?.changed ?? [])].filter(([path]) => !sent.pages.has(path)));
      if (former && others.size > 0) ensureMerged(former);
      const pages = new Map([...others, ...sent.pages]);
      ensureShort(note, pages);
      const changed = new Map([...pages].filter(([path, text]) => before.get(path) !== text));
      if (changed.size === 0) throw new ProposalError('unchanged');
      const findings = checkMerged(sent, { before, changed, conflicts: [] }, settings, blocked);
      if (findings.some(({ rule }) => rule === blockedRule)) throw new ProposalError('blocked');
      ensureFaultless(findings);
      const step: ProposalStep = {
        subject,
        proposer,
        state: 'waiting',
        base: tip,
        // Later than all that the account has sent, also where a clock was ahead.
        sentAt: computeTimeAfter(this.listOf(proposer.id)[0]?.sentAt, sentAt),
        ...(previous && { queuedAt: toQueueTime(previous) }),
        ...(previous?.takenBack && { takenBack: previous.takenBack }),
        reviewer: null,
        reason: null,
        commit: null,
        text: note,
      };
      const parents = previous === undefined ? [] : [previous.version];
      const tree = await readTreeId(repository, tip);
      const proposal = await this.#refs.commit(repository, step, {
        parents: previous?.base === tip ? parents : [...parents, tip],
        ...(tree !== undefined && { tree }),
        files: toFiles(repository, pages),
      });
      if (policy !== 'publish' || isReviewed(sent, before, pages)) return proposal;
      return await this.#accept(proposal, null, '').catch((err: unknown) => {
        this.#options.log.warn(
          { err, subject },
          'an edit could not be published at once, and waits for a review',
        );
        return proposal;
      });
    });
  }

  /**
   * Withdraws a proposal for its account.
   * @param version the one that the account saw
   * @throws {ProposalError} gone, changed
   * @throws {BotshelfError} unavailable
   */
  async withdraw(subject: Subject, account: AccountId, version: string): Promise<SavedStep> {
    return await this.#transact(subject, account, version, async (repository, current) => {
      const change = { state: 'withdrawn', reviewer: null, text: '' } as const;
      return await this.#close(repository, ensureVersion(current, version), change);
    });
  }

  /**
   * Decides about a proposal. Accepted, its changes are in the branch when this resolves.
   * @throws {ProposalError} not-maintainer, gone, changed, too-large, conflict, faulty
   * @throws {BotshelfError} unavailable
   */
  async decide(subject: Subject, account: AccountId, decision: Decision): Promise<SavedStep> {
    const { state, reviewer, version, reason, text } = decision;
    ensureShort(text);
    if (!(await this.isMaintainer(reviewer.id))) throw new ProposalError('not-maintainer');
    const work: ProposalWork = async (repository, current) => {
      const proposal = ensureVersion(current, version);
      if (state === 'accepted') return await this.#accept(proposal, reviewer, text);
      if (state === 'declined')
        return await this.#close(repository, proposal, { state, reviewer, reason, text });
      const step = { ...proposal, state, reviewer, reason: null, text };
      return await this.#refs.commit(repository, step, { parents: [version], files: new Map() });
    };
    return await this.#transact(subject, account, version, work, reviewer.id);
  }

  /**
   * Takes back a refusal or a request for changes that a reviewer has just sent: the proposal waits again, at its place in
   * the queue. An accepted proposal is a commit, and is undone as any commit is.
   * @param version that of the decision
   * @throws {ProposalError} gone if it is too late; changed
   * @throws {BotshelfError} unavailable
   */
  async takeBack(
    subject: Subject,
    account: AccountId,
    version: string,
    reviewer: Person,
  ): Promise<SavedStep> {
    const work: ProposalWork = async (repository) => {
      const decided = ensureVersion(this.findLast(subject, account), version);
      if (!canTakeBack(decided, reviewer.id)) throw new ProposalError('gone');
      const takenBack = (decided.takenBack ?? 0) + 1;
      const change = { state: 'waiting', reviewer, reason: null, text: '', takenBack } as const;
      const step = { ...decided, ...change };
      const opened = await this.#refs.commit(repository, step, { parents: [version], files: new Map() });
      if (decided.closedAt !== null) await this.#refs.replace(repository, decided, opened);
      return opened;
    };
    return await this.#transact(subject, account, version, work, reviewer.id);
  }

  /**
   * Takes over what was decided at the Git host, which says who may decide there. Nothing is committed to the branch.
   * @throws {ProposalError} gone, changed @throws {BotshelfError} unavailable
   */
  async decideAtHost({ subject, proposer, version }: Proposal, decision: HostDecision): Promise<SavedStep> {
    const work: ProposalWork = async (repository, current) =>
      await this.#close(repository, ensureVersion(current, version), { ...decision, reviewer: null });
    return await this.#transact(subject, proposer.id, version, work, service);
  }

  /** Returns whether an account may review, by the settings of the last commit. One that is blocked may not. */
  async isMaintainer(account: AccountId): Promise<boolean> {
    const isBlocked =
      findBlocked(this.#options.blocked() ?? nothingBlocked, { authors: [account] }).length > 0;
    return !isBlocked && ((await this.#options.settings())?.maintainers.includes(account) ?? false);
  }

  /**
   * Blocks somebody, or ends that, for a maintainer. It is in force when this resolves.
   * @throws {BlockError} maintainer, for the account of one; and as planBlockedCommit
   * @throws {BotshelfError} unavailable; edit-conflict, while a person edits the file
   */
  async changeBlocked(change: BlockedChange, by: AccountId): Promise<void> {
    const { kind, name, ends } = change;
    if (kind === 'account' && (await this.#settings()).maintainers.includes(name))
      throw new BlockError('maintainer', `${name} is a maintainer: use the command on the server`);
    const move = this.#options.committer.move(async (repository, tip) => {
      const { files, message } = await planBlockedCommit(repository, tip, change, by);
      if (files.size === 0) return undefined;
      const commit = await writeCommit(repository, { parents: [tip], files, message });
      const contents = new Map([...files].map(([path, { content }]) => [path, content]));
      return { commit, refs: new Map(), contents, refusesEdits: true };
    });
    await move.catch((error: unknown) => {
      throw isError(error, 'usage', 'edit-conflict') ? error : toUnavailableError(error);
    });
    const done = ends ? 'unblocked' : 'blocked';
    this.#options.log.info({ by, [kind]: name }, `account ${by} has ${done} the ${kind} ${name}`);
  }

  /** Commits the proposal to the branch and makes its closed ref in one transaction, then deletes the open one. */
  async #accept(proposal: Proposal, reviewer: Person | null, text: string): Promise<Proposal> {
    const settings = await this.#settings();
    const blocked = requireBlocked(this.#options.blocked());
    let closed: Proposal | undefined;
    const { subject, proposer } = proposal;
    await this.#options.committer.move(async (repository, tip) => {
      closed = undefined;
      const merged = await mergeProposal(repository, tip, proposal);
      ensureMerged(merged);
      ensureFaultless(checkMerged(proposal, merged, settings, blocked));
      if (merged.changed.size === 0) return undefined;
      const files = toFiles(repository, withEdited(subject, merged));
      const message = describeChange(subject, merged, formatTrailers(proposer, reviewer));
      const commit = await writeCommit(repository, { parents: [tip], files, message });
      const step = { ...proposal, state: 'accepted', reviewer, commit, text } as const;
      closed = await this.#refs.writeClosed(repository, proposal, step);
      const contents = new Map([...files].map(([path, { content }]) => [path, content]));
      return { commit, refs: new Map([[closed.ref, closed.version]]), contents };
    });
    const repository = await this.#options.repositoryOpener.open();
    if (closed === undefined)
      return await this.#close(repository, proposal, { state: 'accepted', reviewer, text });
    await this.#refs.replace(repository, proposal, closed);
    return closed;
  }

  async #close(
    repository: Repository,
    proposal: Proposal,
    change: Pick<ProposalStep, 'state' | 'reviewer' | 'text'> & Partial<ProposalStep>,
  ): Promise<Proposal> {
    const closed = await this.#refs.writeClosed(repository, proposal, { ...proposal, ...change });
    await moveRefs(repository, new Map([[closed.ref, { from: null, to: closed.version }]]));
    await this.#refs.replace(repository, proposal, closed);
    return closed;
  }

  async #compareWithBranch(): Promise<void> {
    const repository = await this.#options.repositoryOpener.open();
    const from = this.#comparedTip;
    const tip = await readTip(repository);
    const changes =
      from === null || from === tip ? [] : await diffTrees(repository, from, tip).catch(ignoreDiffLimit);
    const subjects = new Set(changes?.map(({ path }) => findSubject(path, repository.prefix)));
    const proposals = this.open.filter(
      (proposal) => !changes || !this.#compared.has(proposal) || subjects.has(proposal.subject),
    );
    for (let i = 0; i < proposals.length; i += comparedAtOnce)
      await this.#run(async (repository) => {
        for (const proposal of proposals.slice(i, i + comparedAtOnce)) {
          // The machine that decides about it shares who accepted it, with their words.
          if (this.#remote?.isClaimed(proposal)) continue;
          if (this.#refs.get(proposal.ref) !== proposal) continue;
          // One that cannot be read is compared again in the next round, after the others.
          const isAccepted = await isInBranch(repository, tip, proposal).catch(() => undefined);
          if (isAccepted)
            await this.#close(repository, proposal, { state: 'accepted', reviewer: null, text: '' });
          if (isAccepted !== undefined) this.#compared.add(proposal);
        }
      });
    this.#comparedTip = tip;
  }

  /** Returns how many versions an account has sent in the last day. */
  async #countSent(repository: Repository, account: AccountId): Promise<number> {
    const since = Date.now() - msPerDay;
    let sent = 0;
    for (const { version, closedAt } of this.listOf(account)) {
      if (closedAt !== null && closedAt < since) continue;
      const steps = await readSteps(repository, version);
      sent += steps.filter((step) => isSubmission(step) && step.sentAt > since).length;
    }
    return sent;
  }

  async #settings(): Promise<CatalogueSettings> {
    return (await this.#options.settings()) ?? toSettings();
  }

  /**
   * Makes a step of the proposal of an account for a subject, tells the listeners, and shares it.
   * @param version the one that a decision is about; null if the step makes another one, whatever there is
   * @param by the account whose turn it is, or `service`
   * @throws {ProposalError} gone, changed
   */
  async #transact(
    subject: Subject,
    account: AccountId,
    version: string | null,
    work: ProposalWork,
    by: string = account,
  ): Promise<SavedStep> {
    await this.#claim(this.find(subject, account), version);
    const claimed = version ?? undefined;
    const step = async (repository: Repository): Promise<Proposal> =>
      await work(repository, this.find(subject, account));
    const proposal = await this.#run(step, by).catch((error: unknown) => {
      // The remote may lack what was claimed.
      void tryRemote(this.#remote?.pushProposals(claimed));
      throw error;
    });
    for (const listener of this.#listeners) listener(proposal);
    const because = await tryRemote(this.#remote?.pushProposals(claimed));
    if (because !== undefined)
      this.#options.log.warn(
        { because },
        'a proposal was changed on this machine, and the remote does not have it yet: it is pushed later',
      );
    return { proposal, shared: because === undefined };
  }

  /**
   * Makes sure that no other machine decides about a version, or fetches the steps of the others where the proposal is at
   * another one, so that nothing is decided twice. Without the remote it goes on.
   * @throws {ProposalError} gone, changed
   */
  async #claim(proposal: Proposal | undefined, version: string | null): Promise<void> {
    if (proposal === undefined || proposal.version !== version)
      return void (await tryRemote(this.#remote?.fetchProposals()));
    // Git could not push the end of one whose objects are missing here, unless the remote still has its open ref.
    const read = this.#open(async (repository) => await readProposedTexts(repository, proposal));
    if (!(await read.catch(() => undefined))) return;
    let isClaimed: boolean | undefined;
    await tryRemote(this.#remote?.claimProposal(proposal).then((result) => void (isClaimed = result)));
    if (isClaimed !== false) return;
    await tryRemote(this.#remote?.waitForDecision(proposal));
    const { subject, proposer } = proposal;
    throw new ProposalError(this.find(subject, proposer.id) === undefined ? 'gone' : 'changed');
  }

  /**
   * Runs `work` after the current step, when it is the turn of the account. A failed git may have moved refs, which are
   * re-read, and left locks, which are removed.
   * @throws {BotshelfError} unavailable; share-full, if too many steps of the account wait
   */
  async #run<T>(work: (repository: Repository) => Promise<T>, by = service): Promise<T> {
    try {
      return await this.#queue.run(
        by,
        async () =>
          await this.#open(async (repository) => {
            try {
              if (!this.#isLoaded) await this.#refs.load(repository);
              this.#isLoaded = true;
              return await work(repository);
            } catch (error) {
              // It is refused by its rules: nothing was done that could have failed.
              if (error instanceof ProposalError) throw error;
              await removeLeftovers(repository, error, this.#options.log).catch(() => undefined);
              this.#isLoaded = await this.#refs.load(repository).then(
                () => true,
                () => false,
              );
              throw error;
            }
          }),
      );
    } catch (error) {
      if (isError(error, 'queue-full'))
        throw new BotshelfError('overloaded', error.message, { cause: error });
      throw error;
    }
  }

  async #open<T>(work: (repository: Repository) => Promise<T>): Promise<T> {
    const repository = await this.#options.repositoryOpener.open();
    try {
      return await work(repository);
    } catch (error) {
      throw error instanceof ProposalError ? error : toUnavailableError(error);
    }
  }
}

function isAnswered({ state }: Proposal): boolean {
  return state !== 'waiting' && state !== 'withdrawn';
}

/** Returns the trailers of the commit that accepts a proposal. */
function formatTrailers(proposer: Person, reviewer: Person | null): string[] {
  return [`Proposed-by: ${proposer.id}`, ...(reviewer === null ? [] : [`Reviewed-by: ${reviewer.id}`])];
}

/** Returns whether the branch has the changes of a proposal; undefined while it lacks the commit that they change. */
async function isInBranch(
  repository: Repository,
  tip: string,
  proposal: Proposal,
): Promise<boolean | undefined> {
  const folder = repository.prefix + toSubjectFolder(proposal.subject);
  const [before, now] = await repository.objects.read([`${proposal.base}:${folder}`, `${tip}:${folder}`]);
  if (before?.id === now?.id) return false;
  if ((await mergeProposal(repository, tip, proposal)).changed.size > 0) return false;
  // What has the same here may be older than that commit, which is still to come from another machine.
  return (await isAncestor(repository, proposal.base, tip)) ? true : undefined;
}

function toFiles({ prefix }: Repository, pages: FileTexts): Map<string, ReturnType<typeof toNewFile>> {
  return new Map(Array.from(pages, ([path, text]) => [prefix + path, toNewFile(text)]));
}

/** Fewer decisions say nothing about the next one. */
const minDecisions = 5;

/** Proposals that are compared with the branch while a step waits. */
const comparedAtOnce = 20;

/** Steps that may wait for the one that is being made; those of an account are a quarter at most. */
const maxWaiting = 100;

/** Stands for the service among the accounts that take turns. */
const service = '';
