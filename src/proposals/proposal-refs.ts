import { msPerDay, parseCommitTime } from '../bot/clock.ts';
import { type NewCommit, writeCommit } from '../git/commit-files.ts';
import { isAncestor, readConfirmedTime } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import { listRefs, moveRefs } from '../git/refs.ts';
import { readTreeId } from '../git/trees.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import type { PushedRef } from '../sync/remote.ts';
import { ProposalList } from './proposal-list.ts';
import {
  closedPrefix,
  formatClosedRef,
  formatOpenRef,
  formatStep,
  isRefusal,
  isSubmission,
  openPrefix,
  parseProposalRef,
  parseStep,
  type PastStep,
  type Proposal,
  type ProposalStep,
  states,
  toQueueTime,
} from './proposal.ts';

/** The refs of proposals in this clone, and the content of their commits. Call its methods that write one at a time. */
export class ProposalRefs extends ProposalList {
  /** The versions that a later one has replaced. After a crash, a ref may still point to one. */
  readonly #ended = new Set<string>();

  /** Reads the changes, and deletes proposals that ended too long ago. @throws {GitError} */
  async load(repository: Repository): Promise<void> {
    const versions = await listRefs(repository, [openPrefix, closedPrefix]);
    for (const { ref } of this.all) if (!versions.has(ref)) this.set(ref, undefined);
    const changed = [...versions].filter(([ref, version]) => this.get(ref)?.version !== version);
    for (let i = 0; i < changed.length; i += commitsAtOnce) {
      const some = changed.slice(i, i + commitsAtOnce);
      const objects = await repository.objects.read(some.map(([, version]) => version));
      for (const [j, [ref, version]] of some.entries()) {
        const content = objects[j]?.content.toString() ?? '';
        this.set(ref, toProposal(ref, version, content));
        for (const parent of parseCommit(content).parents) this.#ended.add(parent);
      }
    }
    await this.#deleteEnded(repository);
  }

  /** Writes a commit of an open proposal durably. @throws {GitError} {BotshelfError} ref-conflict */
  async commit(
    repository: Repository,
    step: ProposalStep,
    commit: Omit<NewCommit, 'message'>,
  ): Promise<Proposal> {
    const ref = formatOpenRef(step.subject, step.proposer.id);
    const version = await writeCommit(repository, { ...commit, message: formatStep(step) });
    await moveRefs(repository, new Map([[ref, { from: this.get(ref)?.version ?? null, to: version }]]));
    const at = isSubmission(step) ? step.sentAt : Date.now();
    const proposal: Proposal = { ...step, ref, version, closedAt: null, at };
    this.set(ref, proposal);
    return proposal;
  }

  /** Writes the last commit of a proposal. `replace` then creates its ref, and deletes that of the open one. @throws {GitError} */
  async writeClosed(
    repository: Repository,
    { version: parent }: Proposal,
    step: ProposalStep,
  ): Promise<Proposal> {
    const version = await writeCommit(repository, { parents: [parent], message: formatStep(step) });
    let at = Date.now();
    while (this.get(formatClosedRef(step.subject, step.proposer.id, at))) at++;
    return { ...step, ref: formatClosedRef(step.subject, step.proposer.id, at), version, closedAt: at, at };
  }

  /**
   * Replaces an open proposal by its closed one, or the reverse. The new ref is durable first, because a power loss
   * must not take both. The next load finishes a failed replacement.
   */
  async replace(repository: Repository, former: Proposal, next: Proposal): Promise<void> {
    this.set(former.ref, undefined);
    this.set(next.ref, next);
    this.#ended.add(former.version);
    const updates = new Map([[former.ref, { from: former.version, to: null }]]);
    await moveRefs(repository, updates).catch(() => undefined);
  }

  async #deleteEnded(repository: Repository): Promise<void> {
    const times = this.listClosedSince(0).map(({ closedAt }) => closedAt ?? 0);
    const oldest = findOldestKept(times, await readConfirmedTime(repository));
    const old = this.all.filter(
      ({ closedAt, version }) => this.#ended.has(version) || (closedAt ?? oldest) < oldest,
    );
    if (old.length === 0) return;
    await moveRefs(repository, new Map(old.map(({ ref, version }) => [ref, { from: version, to: null }])));
    for (const { ref } of old) this.set(ref, undefined);
  }
}

/** Reads the steps of a proposal, newest first: its own commits and, if two machines changed it, those of both. @throws {GitError} */
export async function readSteps(repository: Repository, version: string): Promise<PastStep[]> {
  const commits = await readOwnCommits(repository, version);
  // A merge of two machines repeats the step of one of them.
  return [...commits.values()].flatMap(({ step, at, own }) => (own.length < 2 ? { ...step, at } : []));
}

/** Returns the first commits of a proposal: two if two machines began it. @throws {GitError} */
async function listFirstSteps(repository: Repository, version: string): Promise<string[]> {
  const commits = await readOwnCommits(repository, version);
  return [...commits].flatMap(([id, { own }]) => (own.some((parent) => commits.has(parent)) ? [] : id));
}

/** A commit of a proposal, with its parents that are also commits of the proposal. */
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

/**
 * Returns the time of the oldest closed proposal to keep. @param times the times at which proposals ended
 * @param now the result of `readConfirmedTime`
 */
export function findOldestKept(times: readonly number[], now: number): number {
  const last = times.length > maxClosed ? times.toSorted((a, b) => b - a)[maxClosed - 1] : 0;
  return Math.max(now - closedDays * msPerDay, last ?? 0);
}

/** Parses the commit of a ref; undefined if it is not a proposal of that name. */
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
  /** The time of its step, in milliseconds since the epoch. */
  readonly at: number;
}

export function parseCommit(content: string): ParsedCommit {
  const end = content.indexOf('\n\n');
  const head = content.slice(0, end);
  const [, committer = '', seconds = ''] = /^committer (.* (\d+) [+-]\d{4})$/m.exec(head) ?? [];
  const parents = [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id = '']) => id);
  const step = parseStep(content.slice(end + 2));
  const at = step && isSubmission(step) ? step.sentAt : parseCommitTime(seconds);
  return { step, parents, committer, at };
}

const commitsAtOnce = 500;

/** Maximum number of steps that are read of a proposal. */
const maxSteps = 200;

/** Days that closed proposals are kept, and the maximum number kept. */
const closedDays = 90;
const maxClosed = 20_000;

/** The refspecs that are fetched from the remote. */
export const fetchSpecs = [openPrefix, closedPrefix].map((prefix) => `+${prefix}*:${toKnownRef(prefix)}*`);

/** Returns the ref that stores the remote's version of a ref at the last fetch or push. */
export function toKnownRef(ref: string): string {
  return ref.replace('refs/botshelf/', 'refs/botshelf/remote/');
}

/** Ref → commit. */
type Versions = ReadonlyMap<string, string>;

/** A ref that differs at the remote, with the remote's commit as the lease. */
export type MovedRef = Required<PushedRef>;

export interface MergedRefs {
  /** Whether refs of this clone have changed. */
  readonly isMoved: boolean;
  /** The refs that then differ from the remote. */
  readonly toPush: readonly MovedRef[];
}

/**
 * Merges the remote's proposals, as last fetched, into ours. Both machines create the same commits:
 * - A proposal of only one side is copied to the other, unless its end is known. Of two versions with a common
 *   history, the later one stays.
 * - Diverged versions are merged: the files of the later submission, with the state and the text of the stronger step.
 * - Of two ends of one submission, the stronger one stays; its history includes the other.
 * - A version that an end does not include stays open if it was sent after the accepted one, or after the withdrawal.
 * - A decision that was taken back is in the history of the next state. Accepted and withdrawn proposals cannot be
 *   taken back.
 * @throws {GitError} {BotshelfError} ref-conflict
 */
export async function mergeRefs(repository: Repository): Promise<MergedRefs> {
  const ours = await listVersions(repository, (ref) => ref);
  const theirs = await listVersions(repository, toKnownRef);
  const names = new Set([...ours.keys(), ...theirs.keys()]);
  const times = [...names].flatMap((ref) => parseProposalRef(ref)?.closedAt ?? []);
  const oldest = findOldestKept(times, await readConfirmedTime(repository));
  const merged = new Map<string, string | null>();
  const groups = new Map<string, string[]>();
  const [differing, ended] = [new Set<string>(), new Set<string>()];
  const slice = new TimeSlice('service');
  for (const ref of names) {
    if (slice.isOver) await slice.next();
    const { subject, account, closedAt } = parseProposalRef(ref) ?? {};
    const group = `${subject}/${account}`;
    if (closedAt !== null) ended.add(group);
    if (closedAt !== null && closedAt !== undefined && closedAt < oldest) merged.set(ref, null);
    else {
      groups.set(group, [...(groups.get(group) ?? []), ref]);
      if (ours.get(ref) !== theirs.get(ref)) differing.add(group);
    }
  }
  for (const group of differing) {
    const refs = (groups.get(group) ?? []).toSorted();
    for (const [ref, version] of await mergeGroup(repository, refs, [ours, theirs], ended.has(group)))
      merged.set(ref, version);
  }
  const moves = [...merged].map(([ref, to]) => [ref, { from: ours.get(ref) ?? null, to }] as const);
  const moved = moves.filter(([, { from, to }]) => from !== to);
  // The closed ref is created first, because a power loss must not take both.
  for (const updates of [
    moved.filter(([, { to }]) => to !== null),
    moved.filter(([, { to }]) => to === null),
  ])
    if (updates.length > 0) await moveRefs(repository, new Map(updates));
  const toPush = [...merged]
    .filter(([ref, to]) => to !== (theirs.get(ref) ?? null))
    .map(([ref, commit]) => ({ ref, commit, lease: theirs.get(ref) ?? '' }));
  return { isMoved: moved.length > 0, toPush };
}

/**
 * Returns the refs of an account's proposals for a subject, each with its merged commit.
 * @param hasEnds whether one has ended: to look for an end, Git reads all refs of proposals
 */
async function mergeGroup(
  repository: Repository,
  refs: readonly string[],
  sides: readonly Versions[],
  hasEnds: boolean,
): Promise<Map<string, string | null>> {
  const merged = new Map<string, string | null>();
  const closed = new Map<string, Proposal>();
  const replaceEnd = (end: Proposal, joined: Proposal): void => {
    for (const [ref, known] of closed) if (known === end) closed.set(ref, joined);
  };
  const open: Proposal[] = [];
  for (const ref of refs) {
    const versions = [...new Set(sides.flatMap((side) => side.get(ref) ?? []))].toSorted();
    const proposals = await readProposals(repository, ref, versions);
    const [first, ...others] = proposals;
    // Skips a ref with a commit that is not a proposal.
    if (first === undefined || proposals.length < versions.length) continue;
    merged.set(ref, null);
    if (first.closedAt === null) {
      open.push(...proposals);
      continue;
    }
    const end = await joinAll(repository, first, others);
    closed.set(ref, end);
    for (const other of closed.values()) {
      if (
        other === end ||
        (other.sentAt !== end.sentAt && !(await isEitherTakenBack(repository, other, end)))
      )
        continue;
      const joined = await join(repository, other, end);
      for (const one of [other, end]) replaceEnd(one, joined);
      break;
    }
  }
  const stays: Proposal[] = [];
  for (let proposal of open) {
    for (const [ref, end] of closed)
      if (await isTakenBack(repository, end, proposal)) {
        closed.delete(ref);
        proposal = await join(repository, proposal, end);
      }
    const end = hasEnds ? await findEnd(repository, proposal, closed) : undefined;
    if (end === undefined) stays.push(proposal);
    else replaceEnd(end, await join(repository, end, proposal));
  }
  const [first, ...others] = stays;
  const all = [...new Set(closed.values()), ...(first ? [await joinAll(repository, first, others)] : [])];
  for (const { ref, version } of all) merged.set(ref, version);
  return merged;
}

/**
 * Returns whether the decision that ended a proposal was taken back before `later`. A decision about a later
 * submission does not count.
 */
async function isTakenBack(repository: Repository, end: Proposal, later: Proposal): Promise<boolean> {
  const { state, sentAt, takenBack = 0 } = end;
  if (takenBack >= (later.takenBack ?? 0) || !isRefusal(state)) return false;
  if (sentAt === later.sentAt) return true;
  const steps = await readSteps(repository, later.version);
  return steps.some((step) => step.state === state && step.sentAt === sentAt);
}

async function isEitherTakenBack(repository: Repository, a: Proposal, b: Proposal): Promise<boolean> {
  return (await isTakenBack(repository, a, b)) || (await isTakenBack(repository, b, a));
}

/** Returns the closed proposal that ends an open one; undefined if it stays open. */
async function findEnd(
  repository: Repository,
  proposal: Proposal,
  closed: ReadonlyMap<string, Proposal>,
): Promise<Proposal | undefined> {
  const { subject, proposer, version, sentAt } = proposal;
  const prefix = `${closedPrefix}${subject}/${proposer.id}/`;
  const listEnds = async (step: string): Promise<Proposal[]> => {
    const refs = await listRefs(repository, [prefix, toKnownRef(prefix)], [`--contains=${step}`]);
    const ends = [...new Map([...refs].map(([ref, id]) => [toOwnRef(ref), id]))].toSorted(([x], [y]) =>
      x < y ? -1 : 1,
    );
    const read = ends.map(
      async ([ref, id]) => closed.get(ref) ?? (await readProposals(repository, ref, [id]))[0],
    );
    const known = (await Promise.all(read)).filter((end) => end !== undefined);
    const areTakenBack = await Promise.all(known.map((end) => isTakenBack(repository, end, proposal)));
    return known.filter((_, i) => areTakenBack[i] === false);
  };
  const [end] = await listEnds(version);
  if (end !== undefined) return end;
  for (const first of await listFirstSteps(repository, version)) {
    const stronger = (await listEnds(first)).find(
      // A withdrawal ends its own submission, even if its clock was behind.
      (end) =>
        end.state === 'declined' ||
        sentAt <= end.sentAt ||
        (end.state === 'withdrawn' && sentAt <= (end.closedAt ?? 0)),
    );
    if (stronger !== undefined) return stronger;
  }
  return undefined;
}

async function joinAll(
  repository: Repository,
  first: Proposal,
  others: readonly Proposal[],
): Promise<Proposal> {
  let joined = first;
  for (const other of others) joined = await join(repository, joined, other);
  return joined;
}

/** Returns a proposal whose commit has both in its history. Every machine creates the same commit. */
async function join(repository: Repository, a: Proposal, b: Proposal): Promise<Proposal> {
  if (await isAncestor(repository, b.version, a.version)) return a;
  if (await isAncestor(repository, a.version, b.version)) return b;
  const [contentA = '', contentB = ''] = await readContents(repository, [a.version, b.version]);
  const [madeA, madeB] = [parseCommit(contentA), parseCommit(contentB)];
  const isEnded =
    (a.closedAt === null) !== (b.closedAt === null) && !(await isEitherTakenBack(repository, a, b));
  // A machine that finds a proposal in the branch closes it without a reviewer.
  const difference =
    Number(a.state === 'accepted') - Number(b.state === 'accepted') ||
    (isEnded ? 0 : (a.takenBack ?? 0) - (b.takenBack ?? 0)) ||
    states.indexOf(a.state) - states.indexOf(b.state) ||
    Number(a.reviewer !== null) - Number(b.reviewer !== null) ||
    madeA.at - madeB.at;
  const isFirst = difference > 0 || (difference === 0 && a.version > b.version);
  const [winner, loser, { committer }] = isFirst ? [a, b, madeA] : [b, a, madeB];
  const hasLater = winner.closedAt === null && loser.sentAt > winner.sentAt;
  const { version, base, sentAt } = hasLater ? loser : winner;
  const step: ProposalStep = {
    ...winner,
    base,
    sentAt,
    ...(hasLater && { queuedAt: toQueueTime(winner) }),
  };
  const joined = await writeCommit(repository, {
    parents: [winner.version, loser.version],
    tree: await readTreeId(repository, version),
    message: formatStep(step),
    committer,
  });
  return { ...winner, ...step, version: joined };
}

async function readProposals(
  repository: Repository,
  ref: string,
  versions: readonly string[],
): Promise<Proposal[]> {
  const contents = await readContents(repository, versions);
  return versions.flatMap((version, i) => toProposal(ref, version, contents[i] ?? '') ?? []);
}

async function readContents(repository: Repository, ids: readonly string[]): Promise<string[]> {
  return (await repository.objects.read(ids)).map((object) => object?.content.toString() ?? '');
}

async function listVersions(
  repository: Repository,
  toRef: (ref: string) => string,
): Promise<Map<string, string>> {
  const refs = await listRefs(repository, [openPrefix, closedPrefix].map(toRef));
  const own = Array.from(refs, ([ref, id]) => [toOwnRef(ref), id] as const);
  return new Map(own.filter(([ref]) => parseProposalRef(ref) !== undefined));
}

/** Returns the remote's versions of its refs at the last fetch or push. @throws {GitError} */
export async function listKnownRefs(repository: Repository): Promise<ReadonlyMap<string, string>> {
  return await listRefs(repository, [openPrefix, closedPrefix].map(toKnownRef));
}

function toOwnRef(ref: string): string {
  return ref.replace('refs/botshelf/remote/', 'refs/botshelf/');
}
