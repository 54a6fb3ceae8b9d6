import { BotshelfError, isError } from '../lib/errors.ts';
import { computeTimeAfter, msPerDay } from '../bot/clock.ts';
import { type AccountId, parseAccountId } from '../bot/commit-message.ts';
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
import { type FilesCommit, writeCommit, toNewFile } from '../git/commit-files.ts';
import { type Committer, readTip } from '../git/branch/committer.ts';
import { isAncestor } from '../git/history.ts';
import { diffTrees, ignoreDiffLimit, readTreeId } from '../git/trees.ts';
import { removeLeftovers } from '../git/leftovers.ts';
import { type Repository, type RepositoryOpener, toUnavailableError } from '../git/repository.ts';
import { moveRefs } from '../git/refs.ts';
import type { Log } from '../lib/log.ts';
import { tryRemote } from '../lib/retry.ts';
import { FairQueue } from '../lib/serial-queue.ts';
import {
  type BotAct,
  describeChange,
  planBotAct,
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
  withSentPage,
  findKind,
  isReviewed,
  type ProposalKind,
} from './merged-proposal.ts';
import type { ProposalList } from './proposal-list.ts';
import { mergeRefs, type MovedRef, ProposalRefs, readSteps } from './proposal-refs.ts';
import {
  type ProposalPolicy,
  type SentPage,
  type SentProposal,
  type PastStep,
  type Person,
  type Proposal,
  type ProposalStep,
  ProposalError,
  type FileTexts,
  canTakeBack,
  findSubject,
  isSentByBot,
  isSubmission,
  readFileTexts,
  type Subject,
  toQueueTime,
  toSubjectFolder,
} from './proposal.ts';

/** The remote's proposals, which include those of other machines. */
export interface RemoteProposals {
  /** Fetches the remote's proposals and merges them into ours. @throws {Error} with the reason why the remote cannot be reached */
  fetchProposals(): Promise<void>;
  /**
   * Pushes our proposals, merged with the remote's.
   * @param claimed the version that was claimed for a decision, which has been made or given up
   * @throws {Error} as fetchProposals
   */
  pushProposals(claimed?: string): Promise<void>;
  /**
   * Deletes an open proposal at the remote, so that no other machine can decide about this version; the next push
   * restores it. Returns false if another machine has changed or claimed it.
   * @throws {Error} as fetchProposals
   */
  claimProposal(proposal: Proposal): Promise<boolean>;
  /** Returns whether any machine has just claimed this version of a proposal for a decision. */
  isClaimed(version: string): boolean;
  /** Waits while the machine that claimed a proposal is about to share its decision. @throws as fetchProposals */
  waitForDecision(proposal: Proposal): Promise<void>;
}

export interface ProposalsOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly committer: Pick<Committer<never>, 'move'>;
  /** Reads the settings of the last commit, which name the reviewers; undefined if they have a fault. */
  readonly settings: () => Promise<CatalogueSettings | undefined>;
  /** Returns the block list; null if it cannot be read, and then no proposal is accepted. */
  readonly blocked: () => Blocked | null;
  /** Whether proposals are refused while the settings do not name a maintainer. */
  readonly needsMaintainer: boolean;
  readonly log: Log;
}

/** Makes a step of a proposal. @param current the open proposal, if any */
type ProposalWork = (repository: Repository, current: Proposal | undefined) => Promise<Proposal>;

/** The decision of a maintainer. */
export interface Decision {
  readonly state: 'accepted' | 'changes-asked' | 'declined';
  readonly reviewer: Person;
  /** The version that the maintainer saw. */
  readonly version: string;
  readonly reason: string | null;
  readonly text: string;
}

/** A decision that was made at the Git host. */
export interface HostDecision {
  readonly state: 'accepted' | 'declined';
  /** The text for the proposer. */
  readonly text: string;
  /** The commit of the branch that has the changes, if they were accepted. */
  readonly commit: string | null;
}

/** A step that is saved here. `shared` says whether other machines can fetch it; false while the remote is unreachable. */
export interface SavedStep {
  readonly proposal: Proposal;
  readonly shared: boolean;
}

/** A proposal with everything a review needs, merged with the current branch. */
export interface ProposalDetails extends MergedProposal {
  readonly proposal: Proposal;
  /** Newest first. */
  readonly steps: readonly PastStep[];
  /** All files of the subject in the commit on which the proposal is based. */
  readonly former: FileTexts;
  /** The files as they were sent. */
  readonly sent: FileTexts;
  readonly kind: ProposalKind;
  readonly findings: readonly Finding[];
}

/**
 * Makes the steps of proposals. A proposal is a commit on a ref (proposal.ts); there is no other store. Each step is
 * durable when its promise resolves.
 */
export class Proposals implements BranchConsumer {
  readonly failed = (message: string): string =>
    `could not compare the proposals with the branch: ${message}; accepted ones stay open for now, retrying`;
  readonly ended = 'the proposals are compared with the branch again';
  readonly #options: ProposalsOptions;
  readonly #queue = new FairQueue(maxWaiting);
  readonly #refs = new ProposalRefs();
  /** The current proposals. A step is in the list when its promise resolves. */
  readonly list: ProposalList = this.#refs;
  #isLoaded = false;
  readonly #listeners: ((proposal: Proposal) => void)[] = [];
  #remote: RemoteProposals | null = null;
  /** The tip of the branch at the last comparison, and the proposals that were compared. */
  #comparedTip: string | null = null;
  readonly #compared = new WeakSet<Proposal>();
  #comparing: Promise<void> | undefined;

  constructor(options: ProposalsOptions) {
    this.#options = options;
  }

  /** Connects the proposals of other machines. */
  connect(remote: RemoteProposals): void {
    this.#remote = remote;
  }

  /** Calls `listener` after each step made on this machine. */
  subscribe(listener: (proposal: Proposal) => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the refs, and deletes proposals that ended 90 days ago. @throws {BotshelfError} unavailable */
  async load(): Promise<void> {
    this.#isLoaded = false;
    await this.#inTurn(service, async () => {});
  }

  /** Merges the remote's proposals, as last fetched. Returns the refs that the remote does not have. @throws as load */
  async mergeFetched(): Promise<readonly MovedRef[]> {
    return await this.#inTurn(service, async (repository) => {
      const { isMoved, toPush } = await mergeRefs(repository);
      if (isMoved) await this.#refs.load(repository);
      return toPush;
    });
  }

  /** Closes the proposals that are now in the branch. @throws as closeAccepted */
  async handle(): Promise<void> {
    // The current comparison may have read an earlier tip.
    await this.#comparing?.catch(() => undefined);
    await this.closeAccepted();
  }

  /**
   * Closes, as accepted, the proposals whose changes are in the branch: after a crash, or a merge by other machines.
   * Compares a few at a time, so that steps can run in between.
   * @throws {GitError} {BotshelfError} unavailable
   */
  async closeAccepted(): Promise<void> {
    this.#comparing ??= this.#compareWithBranch().finally(() => (this.#comparing = undefined));
    await this.#comparing;
  }

  /** Returns the commit with which `read` merges. For the same commit and version, the result is the same. @throws as read */
  async readTip(): Promise<string> {
    return await this.#open(readTip);
  }

  /** Reads the details of a proposal. @throws {BotshelfError} unavailable */
  async read(proposal: Proposal): Promise<ProposalDetails> {
    return await this.#open(async (repository) => {
      const merged = await mergeProposal(repository, await readTip(repository), proposal);
      const { former, proposed } = await readProposedTexts(repository, proposal);
      const [settings, blocked] = [await this.#settings(), this.#options.blocked() ?? nothingBlocked];
      return {
        ...merged,
        proposal,
        steps: await readSteps(repository, proposal.version),
        former,
        sent: proposed,
        kind: findKind(proposal.subject, merged.before, proposal.proposer.id),
        findings: checkMerged(proposal, merged, settings, blocked),
      };
    });
  }

  /**
   * Returns the expected treatment of a proposal, for forms; `send` decides by the last commit.
   * @param settings the settings in force
   * @param authors the authors of the listed bot; null for a new bot
   * @param account null for a person who has yet to log in, and may be an author
   */
  findPolicy(
    settings: CatalogueSettings,
    authors: readonly string[] | null,
    account: AccountId | null,
  ): ProposalPolicy {
    const kind = account !== null && authors?.includes(account) ? 'authors' : 'others';
    const known: readonly ProposalKind[] = account === null ? ['authors', 'others'] : [kind];
    return this.#findPolicy(settings, authors === null ? ['newBots'] : known);
  }

  /** Returns the treatment of a proposal that may be of any of these kinds. */
  #findPolicy(settings: CatalogueSettings, kinds: readonly ProposalKind[]): ProposalPolicy {
    if (this.#options.needsMaintainer && settings.maintainers.length === 0) return 'off';
    const [policy = 'off', ...others] = new Set(kinds.map((kind) => settings.proposals[kind]));
    return kinds.length === 1 || (policy === 'off' && others.length === 0) ? policy : 'review';
  }

  /**
   * Saves the page that the token of a bot sent, as a proposal of the bot itself. The same page as before changes
   * nothing; one that the branch has ends the open proposal.
   * @returns the proposal as it now is; null if the branch has the page, and no proposal was open
   * @throws {ProposalError} as `send`, except for unchanged; gone, if the bot has no main page
   * @throws {BotshelfError} unavailable
   */
  async sendPage(sent: SentPage): Promise<Omit<SavedStep, 'proposal'> & { proposal: Proposal | null }> {
    const proposer = { id: parseAccountId(sent.id) as AccountId, name: sent.name };
    const pages = (before: FileTexts): FileTexts => withSentPage(before, sent);
    try {
      return await this.#send({ subject: sent.id, proposer, note: '' }, pages);
    } catch (error) {
      if (!(error instanceof ProposalError && error.kind === 'unchanged')) throw error;
      const last = error.values['state'] && this.list.findLast(sent.id, proposer.id);
      return { proposal: last || null, shared: true };
    }
  }

  /**
   * Saves a proposal, or a new version of it. A change that needs no review is published immediately.
   * @throws {ProposalError} off, blocked, new-account, too-many-open, too-many-sent, too-many-in-all, too-large,
   * unchanged, conflict, faulty
   * @throws {BotshelfError} unavailable
   */
  async send(sent: SentProposal): Promise<SavedStep> {
    // No account of a form may stand for a bot.
    if (isSentByBot(sent)) throw new ProposalError('off');
    return await this.#send(sent, () => sent.pages);
  }

  /** @param toPages returns the changed files from those of the branch */
  async #send(
    sent: Omit<SentProposal, 'pages'>,
    toPages: (before: FileTexts) => FileTexts,
  ): Promise<SavedStep> {
    const { subject, proposer, note, sentAt = Date.now() } = sent;
    const blocked = requireBlocked(this.#options.blocked());
    const isByBot = isSentByBot(sent);
    return await this.#transact(subject, proposer.id, null, async (repository, previous) => {
      const settings = await this.#settings();
      const tip = await readTip(repository);
      const before = await readFileTexts(repository, tip, subject);
      const policy = this.#findPolicy(settings, [findKind(subject, before, proposer.id)]);
      if (policy === 'off') throw new ProposalError('off');
      if (previous === undefined) ensureRoom(this.list.open, proposer.id);
      const own = toPages(before);
      const former = previous && (await mergeProposal(repository, tip, previous));
      const last = isByBot ? this.list.findLast(subject, proposer.id) : undefined;
      if (last && isStanding(last)) {
        const merged = former ?? (await mergeProposal(repository, tip, last));
        if ([...own].every(([path, text]) => merged.changed.get(path) === text))
          throw new ProposalError('unchanged', { state: last.state });
      }
      const others = new Map([...(former?.changed ?? [])].filter(([path]) => !own.has(path)));
      if (former && others.size > 0) ensureMerged(former);
      const pages = new Map([...others, ...own]);
      ensureShort(note, pages);
      const changed = new Map([...pages].filter(([path, text]) => before.get(path) !== text));
      if (changed.size === 0 && isByBot && previous) {
        const change = { state: 'withdrawn', reviewer: null, text: '' } as const;
        return await this.#close(repository, previous, change);
      }
      if (changed.size === 0) throw new ProposalError('unchanged');
      ensureMaySend(sent, settings, await this.#countSent(repository, proposer.id));
      const findings = checkMerged(sent, { before, changed, conflicts: [] }, settings, blocked);
      if (findings.some(({ rule }) => rule === blockedRule)) throw new ProposalError('blocked');
      ensureFaultless(findings);
      const step: ProposalStep = {
        subject,
        proposer,
        state: 'waiting',
        base: tip,
        // Later than all earlier submissions of the account, even if a clock was ahead.
        sentAt: computeTimeAfter(this.list.listOf(proposer.id)[0]?.sentAt, sentAt),
        ...(previous && { queuedAt: toQueueTime(previous) }),
        ...(previous?.takenBack && { takenBack: previous.takenBack }),
        reviewer: null,
        reason: null,
        commit: null,
        text: note,
      };
      const parents = previous === undefined ? [] : [previous.version];
      const proposal = await this.#refs.commit(repository, step, {
        parents: previous?.base === tip ? parents : [...parents, tip],
        tree: await readTreeId(repository, tip),
        files: toFiles(repository, pages),
      });
      if (policy !== 'publish' || isReviewed(sent, before, pages)) return proposal;
      return await this.#accept(proposal, null, '').catch((err: unknown) => {
        this.#options.log.warn(
          { err, subject },
          'could not publish an edit immediately; it waits for a review',
        );
        return proposal;
      });
    });
  }

  /**
   * Withdraws a proposal for its account, or for an author of the bot that sent it.
   * @param version the version that was seen
   * @param by the author; left out for the account itself
   * @throws {ProposalError} gone, changed
   * @throws {BotshelfError} unavailable
   */
  async withdraw(subject: Subject, account: AccountId, version: string, by?: Person): Promise<SavedStep> {
    return await this.#transact(subject, account, version, async (repository, current) => {
      const reviewer = by && by.id !== account ? { id: by.id, name: by.name } : null;
      const change = { state: 'withdrawn', reviewer, text: '' } as const;
      return await this.#close(repository, ensureVersion(current, version), change);
    });
  }

  /**
   * Decides about a proposal. If accepted, its changes are in the branch when this resolves.
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
      return await this.#refs.commit(repository, step, { parents: [version] });
    };
    return await this.#transact(subject, account, version, work, reviewer.id);
  }

  /**
   * Takes back the decision that a reviewer has just made, if it was to decline or to ask for changes. The proposal
   * waits again, at its place in the queue. An accepted proposal is a commit, and is undone like any commit.
   * @param version the version of the decision
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
      const decided = ensureVersion(this.list.findLast(subject, account), version);
      if (!canTakeBack(decided, reviewer.id)) throw new ProposalError('gone');
      const takenBack = (decided.takenBack ?? 0) + 1;
      const change = { state: 'waiting', reviewer, reason: null, text: '', takenBack } as const;
      const step = { ...decided, ...change };
      const opened = await this.#refs.commit(repository, step, { parents: [version] });
      if (decided.closedAt !== null) await this.#refs.replace(repository, decided, opened);
      return opened;
    };
    return await this.#transact(subject, account, version, work, reviewer.id);
  }

  /**
   * Applies a decision made at the Git host, which checks who may decide there. Nothing is committed to the branch.
   * @throws {ProposalError} gone, changed
   * @throws {BotshelfError} unavailable
   */
  async decideAtHost({ subject, proposer, version }: Proposal, decision: HostDecision): Promise<SavedStep> {
    const work: ProposalWork = async (repository, current) =>
      await this.#close(repository, ensureVersion(current, version), { ...decision, reviewer: null });
    return await this.#transact(subject, proposer.id, version, work, service);
  }

  /** Returns whether an account may review, by the settings of the last commit. A blocked account may not. */
  async isMaintainer(account: AccountId): Promise<boolean> {
    const isBlocked =
      findBlocked(this.#options.blocked() ?? nothingBlocked, { authors: [account] }).length > 0;
    return !isBlocked && ((await this.#options.settings())?.maintainers.includes(account) ?? false);
  }

  /**
   * Adds or ends a block for a maintainer. The change is in force when this resolves.
   * @throws {BlockError} maintainer, for the account of a maintainer; and as planBlockedCommit
   * @throws {BotshelfError} unavailable; edit-conflict, while a person edits the file
   */
  async changeBlocked(change: BlockedChange, by: AccountId): Promise<void> {
    const { kind, name, ends } = change;
    if (kind === 'account' && (await this.#settings()).maintainers.includes(name))
      throw new BlockError('maintainer', `${name} is a maintainer: use the command on the server`);
    await this.#commit(async (repository, tip) => await planBlockedCommit(repository, tip, change, by));
    const done = ends ? 'unblocked' : 'blocked';
    this.#options.log.info({ by, [kind]: name }, `account ${by} has ${done} the ${kind} ${name}`);
  }

  /**
   * Marks a listed bot as for adults or removes it, for a maintainer. The change is in force when this resolves.
   * @throws {BotshelfError} unavailable; faulty-page; edit-conflict, while a person edits a file of the bot
   */
  async changeBot(change: BotAct): Promise<void> {
    await this.#commit(async (repository, tip) => await planBotAct(repository, tip, change));
    const { act, bot, by } = change;
    const done = act === 'adult' ? 'marked as for adults' : 'removed';
    this.#options.log.info({ by: by.id, bot }, `account ${by.id} has ${done} the bot ${bot}`);
  }

  /** Commits the files of a plan, if any. @throws what `plan` throws {BotshelfError} unavailable, edit-conflict */
  async #commit(plan: (repository: Repository, tip: string) => Promise<FilesCommit>): Promise<void> {
    const move = this.#options.committer.move(async (repository, tip) => {
      const { files, message } = await plan(repository, tip);
      if (files.size === 0) return undefined;
      const commit = await writeCommit(repository, { parents: [tip], files, message });
      return { commit, refs: new Map(), files, refusesEdits: true };
    });
    await move.catch((error: unknown) => {
      throw isError(error, 'usage', 'edit-conflict', 'faulty-page') ? error : toUnavailableError(error);
    });
  }

  /** In one transaction, commits the proposal to the branch and creates its closed ref; then deletes the open one. */
  async #accept(proposal: Proposal, reviewer: Person | null, text: string): Promise<Proposal> {
    const settings = await this.#settings();
    const blocked = requireBlocked(this.#options.blocked());
    let closed: Proposal | undefined;
    await this.#options.committer.move(async (repository, tip) => {
      closed = undefined;
      const merged = await mergeProposal(repository, tip, proposal);
      ensureMerged(merged);
      ensureFaultless(checkMerged(proposal, merged, settings, blocked));
      if (merged.changed.size === 0) return undefined;
      const files = toFiles(repository, withEdited(proposal.subject, merged));
      const message = describeChange(proposal, merged, reviewer);
      const commit = await writeCommit(repository, { parents: [tip], files, message });
      const step = { ...proposal, state: 'accepted', reviewer, commit, text } as const;
      closed = await this.#refs.writeClosed(repository, proposal, step);
      return { commit, refs: new Map([[closed.ref, closed.version]]), files };
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
    const proposals = this.list.open.filter(
      (proposal) => !changes || !this.#compared.has(proposal) || subjects.has(proposal.subject),
    );
    for (let i = 0; i < proposals.length; i += comparedAtOnce)
      await this.#inTurn(service, async (repository) => {
        for (const proposal of proposals.slice(i, i + comparedAtOnce)) {
          // The machine that decides about the proposal shares its reviewer and text.
          if (this.#remote?.isClaimed(proposal.version)) continue;
          if (this.list.get(proposal.ref) !== proposal) continue;
          // A proposal that cannot be read is compared again in the next round, after the others.
          const isAccepted = await isInBranch(repository, tip, proposal).catch(() => undefined);
          if (isAccepted)
            await this.#close(repository, proposal, { state: 'accepted', reviewer: null, text: '' });
          if (isAccepted !== undefined) this.#compared.add(proposal);
        }
      });
    this.#comparedTip = tip;
  }

  /** Returns the number of versions that an account sent in the last day. */
  async #countSent(repository: Repository, account: AccountId): Promise<number> {
    const since = Date.now() - msPerDay;
    let sent = 0;
    for (const { version, closedAt } of this.list.listOf(account)) {
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
   * Makes a step of an account's proposal for a subject. Claims the version at the remote, so that only one machine
   * decides about it; waits for the turn of `by`; calls `work`; notifies the listeners; shares the step. Continues if
   * the remote is unreachable.
   * @param version the version that a decision is about; null for a step that replaces any version
   * @param by the account that takes its turn, or `service`
   * @throws {ProposalError} gone, changed
   */
  async #transact(
    subject: Subject,
    account: AccountId,
    version: string | null,
    work: ProposalWork,
    by: string = account,
  ): Promise<SavedStep> {
    const remote = this.#remote;
    const claimed = version ?? undefined;
    const before = this.list.find(subject, account);
    if (before === undefined || before.version !== version) await tryRemote(remote?.fetchProposals());
    else if (await this.#isClaimedByOthers(before)) {
      await tryRemote(remote?.waitForDecision(before));
      throw new ProposalError(this.list.find(subject, account) === undefined ? 'gone' : 'changed');
    }
    const step = this.#inTurn(by, async (repository) => {
      return await work(repository, this.list.find(subject, account));
    });
    const proposal = await step.catch((error: unknown) => {
      // The claimed version may be missing at the remote.
      void tryRemote(remote?.pushProposals(claimed));
      throw error;
    });
    for (const listener of this.#listeners) listener(proposal);
    const because = await tryRemote(remote?.pushProposals(claimed));
    if (because !== undefined)
      this.#options.log.warn(
        { because },
        'a proposal was changed on this machine, and the remote does not have it yet: it is pushed later',
      );
    return { proposal, shared: because === undefined };
  }

  /** Claims a version. Returns whether another machine has claimed it; false if that is unknown. */
  async #isClaimedByOthers(proposal: Proposal): Promise<boolean> {
    const read = this.#open(async (repository) => await readProposedTexts(repository, proposal));
    // Without its objects, Git could not push the end of a proposal unless the remote still has its open ref.
    if (!(await read.catch(() => undefined))) return false;
    let isOurs = true;
    await tryRemote(this.#remote?.claimProposal(proposal).then((result) => void (isOurs = result)));
    return !isOurs;
  }

  /**
   * Runs `work` after the current step, when it is the account's turn. A failed git may have moved refs, which are
   * then re-read, and left locks, which are removed.
   * @throws {BotshelfError} unavailable; share-full, if too many steps of the account wait
   */
  async #inTurn<T>(by: string, work: (repository: Repository) => Promise<T>): Promise<T> {
    const attempt = async (repository: Repository): Promise<T> => {
      try {
        await this.#load(repository);
        return await work(repository);
      } catch (error) {
        // The rules refused the step, so no git has failed.
        if (error instanceof ProposalError) throw error;
        await removeLeftovers(repository, error, this.#options.log).catch(() => undefined);
        this.#isLoaded = false;
        await this.#load(repository).catch(() => undefined);
        throw error;
      }
    };
    const result = this.#queue.run(by, async () => await this.#open(attempt));
    return await result.catch((error: unknown) => {
      if (!isError(error, 'queue-full')) throw error;
      throw new BotshelfError('overloaded', error.message, { cause: error });
    });
  }

  async #load(repository: Repository): Promise<void> {
    if (!this.#isLoaded) await this.#refs.load(repository);
    this.#isLoaded = true;
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

/** Returns whether a bot that sends the same page again changes nothing: a person has to answer, or did and refused it. */
function isStanding({ state, reviewer, closedAt }: Proposal): boolean {
  return closedAt === null || state === 'declined' || (state === 'withdrawn' && reviewer !== null);
}

/**
 * Returns whether the branch has the changes of a proposal; undefined if it does not have the commit on which the
 * proposal is based.
 */
async function isInBranch(
  repository: Repository,
  tip: string,
  proposal: Proposal,
): Promise<boolean | undefined> {
  const folder = repository.prefix + toSubjectFolder(proposal.subject);
  const [before, now] = await repository.objects.read([`${proposal.base}:${folder}`, `${tip}:${folder}`]);
  if (before?.id === now?.id) return false;
  if ((await mergeProposal(repository, tip, proposal)).changed.size > 0) return false;
  // Equal files may be older than that commit, if another machine has yet to push it.
  return (await isAncestor(repository, proposal.base, tip)) ? true : undefined;
}

function toFiles({ prefix }: Repository, pages: FileTexts): FilesCommit['files'] {
  return new Map(Array.from(pages, ([path, text]) => [prefix + path, toNewFile(text)]));
}

/** Proposals that are compared with the branch while a step waits. */
const comparedAtOnce = 20;

/** Maximum number of steps that wait. An account may have at most a quarter of them. */
const maxWaiting = 100;

/** Stands for the service among the accounts that take turns. */
const service = '';
