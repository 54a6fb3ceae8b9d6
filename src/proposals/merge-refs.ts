import { writeCommit } from '../git/commit-files.ts';
import { hasCommit, readTreeId } from '../git/history.ts';
import { moveRefs, type Repository, readConfirmedTime } from '../git/repository.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import type { PushedRef } from '../sync/remote.ts';
import {
  closedPrefix,
  formatStep,
  openPrefix,
  parseProposalRef,
  type Proposal,
  type ProposalStep,
  states,
  toQueueTime,
} from './proposal.ts';
import { findOldestKept, listFirstSteps, parseCommit, toProposal } from './proposal-refs.ts';

/** What is fetched from the remote, and where to. */
export const fetchSpecs = [openPrefix, closedPrefix].map((prefix) => `+${prefix}*:${toKnownRef(prefix)}*`);

/** Returns the ref that says where a ref of the remote was when it was last fetched or pushed. */
export function toKnownRef(ref: string): string {
  return ref.replace('refs/botshelf/', 'refs/botshelf/remote/');
}

/** Ref → its commit. */
type Versions = ReadonlyMap<string, string>;

/** A ref that the remote has elsewhere, with its commit there as the lease. */
export type MovedRef = Required<PushedRef>;

export interface MergedRefs {
  /** Whether refs of this clone have moved. */
  readonly isMoved: boolean;
  /** What differs from the remote then. */
  readonly toPush: readonly MovedRef[];
}

/**
 * Merges the remote's proposals, as they were last fetched, into ours. Both machines get the same commits:
 * - What one side has, both get, unless its end is known. Of two versions with a common history the later one stays.
 * - Diverged versions are merged: the files of the later submission, the state and the words of the stronger step.
 * - Of two ends of one submission the stronger one stays, and has the other one in its history.
 * - A version that an end does not include stays open if it was sent after what was accepted, or after the withdrawal.
 * - A decision that was taken back is in the history of what followed.
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
  const differing = new Set<string>();
  const slice = new TimeSlice('service');
  for (const ref of names) {
    if (slice.isOver) await slice.next();
    const { subject, account, closedAt } = parseProposalRef(ref) ?? {};
    if (closedAt !== null && closedAt !== undefined && closedAt < oldest) merged.set(ref, null);
    else {
      const group = `${subject}/${account}`;
      groups.set(group, [...(groups.get(group) ?? []), ref]);
      if (ours.get(ref) !== theirs.get(ref)) differing.add(group);
    }
  }
  for (const group of differing)
    for (const [ref, version] of await mergeGroup(repository, (groups.get(group) ?? []).toSorted(), [
      ours,
      theirs,
    ]))
      merged.set(ref, version);
  const moves = [...merged].map(([ref, to]) => [ref, { from: ours.get(ref) ?? null, to }] as const);
  const moved = moves.filter(([, { from, to }]) => from !== to);
  // A power loss must not take the open ref and leave no closed one.
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

/** Returns the refs of one account's proposals of one subject, each with its merged commit. */
async function mergeGroup(
  repository: Repository,
  refs: readonly string[],
  sides: readonly Versions[],
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
    // A commit of somebody else that is at such a ref is left alone.
    if (first === undefined || proposals.length < versions.length) continue;
    merged.set(ref, null);
    if (first.closedAt === null) {
      open.push(...proposals);
      continue;
    }
    const end = await joinAll(repository, first, others);
    closed.set(ref, end);
    const same = [...closed.values()].find(
      (other) =>
        other !== end && (other.sentAt === end.sentAt || isTakenBack(end, other) || isTakenBack(other, end)),
    );
    if (same === undefined) continue;
    const joined = await join(repository, same, end);
    for (const one of [same, end]) replaceEnd(one, joined);
  }
  const stays: Proposal[] = [];
  for (let proposal of open) {
    for (const [ref, end] of closed)
      if (isTakenBack(end, proposal)) {
        closed.delete(ref);
        proposal = await join(repository, proposal, end);
      }
    const end = await findEnd(repository, proposal, closed);
    if (end === undefined) stays.push(proposal);
    else replaceEnd(end, await join(repository, end, proposal));
  }
  const [first, ...others] = stays;
  const all = [...new Set(closed.values()), ...(first ? [await joinAll(repository, first, others)] : [])];
  for (const { ref, version } of all) merged.set(ref, version);
  return merged;
}

/** Returns whether the decision that ended a proposal was taken back before another state of it. */
function isTakenBack(end: Proposal, later: Proposal): boolean {
  return (end.takenBack ?? 0) < (later.takenBack ?? 0) && toQueueTime(end) === toQueueTime(later);
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
    const refs = new Map(await listRefs(repository, [prefix, toKnownRef(prefix)], [`--contains=${step}`]));
    const ends = [...new Map([...refs].map(([ref, id]) => [toOwnRef(ref), id]))].toSorted(([x], [y]) =>
      x < y ? -1 : 1,
    );
    const read = ends.map(
      async ([ref, id]) => closed.get(ref) ?? (await readProposals(repository, ref, [id]))[0],
    );
    return (await Promise.all(read)).flatMap((end) => (end && !isTakenBack(end, proposal) ? end : []));
  };
  const [end] = await listEnds(version);
  if (end !== undefined) return end;
  for (const first of await listFirstSteps(repository, version)) {
    const stronger = (await listEnds(first)).find(
      // A withdrawal ends the submission that it is of, also where the clock was behind.
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

/** Returns a proposal at a commit that has both in its history. Every machine makes the same commit. */
async function join(repository: Repository, a: Proposal, b: Proposal): Promise<Proposal> {
  if (await hasCommit(repository, a.version, b.version)) return a;
  if (await hasCommit(repository, b.version, a.version)) return b;
  const [contentA = '', contentB = ''] = await readContents(repository, [a.version, b.version]);
  const [madeA, madeB] = [parseCommit(contentA), parseCommit(contentB)];
  // A machine that finds a proposal in the branch closes it, without a reviewer.
  const difference =
    (a.takenBack ?? 0) - (b.takenBack ?? 0) ||
    states.indexOf(a.state) - states.indexOf(b.state) ||
    Number(a.reviewer !== null) - Number(b.reviewer !== null) ||
    madeA.at - madeB.at;
  const isFirst = difference > 0 || (difference === 0 && a.version > b.version);
  const [winner, loser, { committer }] = isFirst ? [a, b, madeA] : [b, a, madeB];
  const hasLater = winner.closedAt === null && loser.sentAt > winner.sentAt;
  const { version, base, sentAt } = hasLater ? loser : winner;
  const step: ProposalStep = { ...winner, base, sentAt };
  const tree = await readTreeId(repository, version);
  const joined = await writeCommit(repository, {
    parents: [winner.version, loser.version],
    ...(tree !== undefined && { tree }),
    files: new Map(),
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
  const own = refs.map(([ref, id]) => [toOwnRef(ref), id] as const);
  return new Map(own.filter(([ref]) => parseProposalRef(ref) !== undefined));
}

/** Returns where the remote's refs were when they were last fetched or pushed. @throws {GitError} */
export async function listKnownRefs(repository: Repository): Promise<ReadonlyMap<string, string>> {
  return new Map(await listRefs(repository, [openPrefix, closedPrefix].map(toKnownRef)));
}

async function listRefs(
  repository: Repository,
  prefixes: readonly string[],
  options: readonly string[] = [],
): Promise<(readonly [ref: string, id: string])[]> {
  const args = ['for-each-ref', '--format=%(refname) %(objectname)', ...options, ...prefixes];
  const lines = (await repository.run(args)).split('\n').slice(0, -1);
  return lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
}

function toOwnRef(ref: string): string {
  return ref.replace('refs/botshelf/remote/', 'refs/botshelf/');
}
