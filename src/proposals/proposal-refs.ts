import type { AccountId } from '../bot/commit-message.ts';
import { readConfirmedTime, moveRefs, type Repository } from '../git/repository.ts';
import { type NewCommit, writeCommit } from '../git/commit-files.ts';
import {
  closedPrefix,
  formatClosedRef,
  formatOpenRef,
  formatStep,
  isSubmission,
  openPrefix,
  parseProposalRef,
  parseStep,
  type PastStep,
  type Proposal,
  type ProposalStep,
  toQueueTime,
} from './proposal.ts';

/** The refs of proposals in this clone, and what their commits say. Call its methods one at a time. */
export class ProposalRefs {
  readonly #proposals = new Map<string, Proposal>();
  /** The versions that another one follows. A crash may leave the ref of one. */
  readonly #ended = new Set<string>();
  #open: readonly Proposal[] | undefined;

  /** The open proposals, in the order in which they were first sent. */
  get open(): readonly Proposal[] {
    this.#open ??= [...this.#proposals.values()]
      .filter(({ closedAt }) => closedAt === null)
      .toSorted((a, b) => toQueueTime(a) - toQueueTime(b));
    return this.#open;
  }

  get(ref: string): Proposal | undefined {
    return this.#proposals.get(ref);
  }

  /** Returns all proposals of an account, open and closed. */
  listOf(account: AccountId): Proposal[] {
    return [...this.#proposals.values()].filter(({ proposer }) => proposer.id === account);
  }

  /** Returns the proposals that ended after a time, in milliseconds since the epoch. */
  listClosedSince(time: number): Proposal[] {
    return [...this.#proposals.values()].filter(({ closedAt }) => closedAt !== null && closedAt > time);
  }

  /** Reads what has changed, and deletes what ended too long ago. @throws {GitError} */
  async load(repository: Repository): Promise<void> {
    const args = ['for-each-ref', '--format=%(objectname) %(refname)', openPrefix, closedPrefix];
    const lines = (await repository.run(args)).split('\n').slice(0, -1);
    const versions = new Map(lines.map((line) => line.split(' ').toReversed() as [string, string]));
    for (const ref of this.#proposals.keys()) if (!versions.has(ref)) this.#set(ref, undefined);
    const changed = [...versions].filter(([ref, version]) => this.get(ref)?.version !== version);
    for (let i = 0; i < changed.length; i += commitsAtOnce) {
      const some = changed.slice(i, i + commitsAtOnce);
      const objects = await repository.objects.read(some.map(([, version]) => version));
      for (const [j, [ref, version]] of some.entries()) {
        const content = objects[j]?.content.toString() ?? '';
        this.#set(ref, toProposal(ref, version, content));
        for (const parent of parseCommit(content).parents) this.#ended.add(parent);
      }
    }
    await this.#deleteEnded(repository);
  }

  /** Makes a commit of an open proposal, durably. @throws {GitError} {BotshelfError} ref-conflict */
  async commit(
    repository: Repository,
    step: ProposalStep,
    commit: Omit<NewCommit, 'message'>,
  ): Promise<Proposal> {
    const proposal = await this.writeOpen(repository, step, commit);
    const { ref, version } = proposal;
    await moveRefs(repository, new Map([[ref, { from: this.get(ref)?.version ?? null, to: version }]]));
    this.#set(ref, proposal);
    return proposal;
  }

  /** Makes a commit of an open proposal, whose ref is still to be moved. @throws {GitError} */
  async writeOpen(
    repository: Repository,
    step: ProposalStep,
    commit: Omit<NewCommit, 'message'>,
  ): Promise<Proposal> {
    const ref = formatOpenRef(step.subject, step.proposer.id);
    const version = await writeCommit(repository, { ...commit, message: formatStep(step) });
    const at = isSubmission(step) ? step.sentAt : Date.now();
    return { ...step, ref, version, closedAt: null, at };
  }

  /** Makes the last commit of a proposal. Its ref is still to be made, and that of the open one to be deleted: see `replace`. @throws {GitError} */
  async writeClosed(
    repository: Repository,
    { version: parent }: Proposal,
    step: ProposalStep,
  ): Promise<Proposal> {
    const version = await writeCommit(repository, {
      parents: [parent],
      files: new Map(),
      message: formatStep(step),
    });
    let at = Date.now();
    while (this.#proposals.has(formatClosedRef(step.subject, step.proposer.id, at))) at++;
    return { ...step, ref: formatClosedRef(step.subject, step.proposer.id, at), version, closedAt: at, at };
  }

  /**
   * Replaces an open proposal by its closed one, or the other way round, whose ref is durable: a power loss must not take
   * both. What fails is finished by the next load.
   */
  async replace(repository: Repository, former: Proposal, next: Proposal): Promise<void> {
    this.#set(former.ref, undefined);
    this.#set(next.ref, next);
    this.#ended.add(former.version);
    const updates = new Map([[former.ref, { from: former.version, to: null }]]);
    await moveRefs(repository, updates).catch(() => undefined);
  }

  async #deleteEnded(repository: Repository): Promise<void> {
    const closed = [...this.#proposals.values()].filter(({ closedAt }) => closedAt !== null);
    const times = closed.map(({ closedAt }) => closedAt ?? 0);
    const oldest = findOldestKept(times, await readConfirmedTime(repository));
    const old = [...this.#proposals.values()].filter(
      ({ closedAt, version }) => this.#ended.has(version) || (closedAt ?? oldest) < oldest,
    );
    if (old.length === 0) return;
    await moveRefs(repository, new Map(old.map(({ ref, version }) => [ref, { from: version, to: null }])));
    for (const { ref } of old) this.#set(ref, undefined);
  }

  #set(ref: string, proposal: Proposal | undefined): void {
    if (proposal === undefined) this.#proposals.delete(ref);
    else this.#proposals.set(ref, proposal);
    this.#open = undefined;
  }
}

/**
 * Reads the steps of a proposal, the last one first: its own commits and, where two machines changed it, those of both.
 * @throws {GitError}
 */
export async function readSteps(repository: Repository, version: string): Promise<PastStep[]> {
  const commits = await readOwnCommits(repository, version);
  // A merge of two machines repeats the step of one of them.
  return [...commits.values()].flatMap(({ step, at, own }) => (own.length < 2 ? { ...step, at } : []));
}

/** Returns the commits with which a proposal began: two where two machines began it. @throws {GitError} */
export async function listFirstSteps(repository: Repository, version: string): Promise<string[]> {
  const commits = await readOwnCommits(repository, version);
  return [...commits].flatMap(([id, { own }]) => (own.some((parent) => commits.has(parent)) ? [] : id));
}

/** A commit of a proposal, with those of its parents that are commits of the proposal too. */
interface OwnCommit extends ParsedCommit {
  readonly step: ProposalStep;
  readonly own: readonly string[];
}

async function readOwnCommits(repository: Repository, version: string): Promise<Map<string, OwnCommit>> {
  const commits = new Map<string, OwnCommit>();
  const known = new Set([version]);
  for (const id of known) {
    const { content } = (await repository.objects.readOne(id)) ?? {};
    const commit = parseCommit(content?.toString() ?? '');
    const { step, parents } = commit;
    if (step === undefined) continue;
    const own = parents.filter((parent) => parent !== step.base);
    commits.set(id, { ...commit, step, own });
    for (const parent of own) if (known.size < maxSteps) known.add(parent);
  }
  return commits;
}

/** Returns the time of the oldest closed proposal to keep. @param times when each has ended @param now as `readConfirmedTime` returns it */
export function findOldestKept(times: readonly number[], now: number): number {
  const last = times.length > maxClosed ? times.toSorted((a, b) => b - a)[maxClosed - 1] : 0;
  return Math.max(now - closedDays * msPerDay, last ?? 0);
}

/** Parses the commit that a ref is at; undefined if it is not a proposal of that name. */
export function toProposal(ref: string, version: string, content: string): Proposal | undefined {
  const name = parseProposalRef(ref);
  const { step, at } = parseCommit(content);
  if (name === undefined || step === undefined) return undefined;
  const { subject, account, closedAt } = name;
  if (subject !== step.subject || account !== step.proposer.id) return undefined;
  return { ...step, ref, version, closedAt, at: closedAt ?? at };
}

interface ParsedCommit {
  readonly step: ProposalStep | undefined;
  readonly parents: readonly string[];
  /** `name <address> seconds +0000`. */
  readonly committer: string;
  /** When its step was made, in milliseconds since the epoch. */
  readonly at: number;
}

/** Parses a commit. */
export function parseCommit(content: string): ParsedCommit {
  const end = content.indexOf('\n\n');
  const head = content.slice(0, end);
  const [, committer = '', seconds] = /^committer (.* (\d+) [+-]\d{4})$/m.exec(head) ?? [];
  const parents = [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id = '']) => id);
  const step = parseStep(content.slice(end + 2));
  const at = step && isSubmission(step) ? step.sentAt : Number(seconds) * 1000;
  return { step, parents, committer, at };
}

const commitsAtOnce = 500;

/** Steps of one proposal that are read. */
const maxSteps = 200;

const msPerDay = 86_400_000;

/** Closed proposals are kept for so long, and so many of them. */
const closedDays = 90;
const maxClosed = 20_000;
