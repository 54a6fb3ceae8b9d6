/*
 * What must be true of what was done and seen. Nothing here uses the code of the service.
 */

/** A write of a register, a read of its value, or a look that found that it has not that value. */
export interface Operation {
  readonly kind: 'write' | 'read' | 'not';
  readonly value: string;
  readonly start: number;
  readonly end: number;
  /** A write that may have no effect: one without a response, or one made elsewhere. It has an effect once at most. */
  readonly mayBe?: boolean;
  /** Such a write has no effect after a write that began later than this, unless one without a time came in between. */
  readonly staleAfter?: number;
  readonly label: string;
}

/**
 * Returns the operation at which no order explains what was seen; undefined where the register is linearizable: all
 * operations, each at an instant between its start and its end, are those of one register. After Wing and Gong: what may
 * come next is tried, and no state twice. A write that may be is only of use just before something that sees it.
 */
export function findUnexplained(initial: string, operations: readonly Operation[]): Operation | undefined {
  const musts = operations.filter(({ mayBe }) => mayBe !== true).toSorted((a, b) => a.start - b.start);
  const maybes = operations.filter(({ mayBe }) => mayBe === true).toSorted((a, b) => a.start - b.start);
  const tried = new Set<string>();
  let deepest = 0;
  let stuck = musts[0];
  interface State {
    readonly low: number;
    readonly done: ReadonlySet<number>;
    readonly value: string;
    readonly used: readonly number[];
    readonly latestStart: number;
  }
  const stack: State[] = [
    { low: 0, done: new Set(), value: initial, used: [], latestStart: Number.NEGATIVE_INFINITY },
  ];
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    const { low, done, value, used, latestStart } = state;
    if (low === musts.length) return undefined;
    const name = `${low} ${[...done].join()} ${value} ${used.join()} ${latestStart}`;
    if (tried.has(name)) continue;
    tried.add(name);
    if (low + done.size >= deepest) {
      deepest = low + done.size;
      stuck = musts[low];
    }
    let firstEnd = Number.POSITIVE_INFINITY;
    const next: number[] = [];
    for (let i = low; i < musts.length && (musts[i]?.start ?? 0) <= firstEnd; i++) {
      if (done.has(i)) continue;
      next.push(i);
      firstEnd = Math.min(firstEnd, musts[i]?.end ?? 0);
    }
    const follow = (i: number, more: Partial<State> = {}): void => {
      const after = new Set(done).add(i);
      let newLow = low;
      while (after.delete(newLow)) newLow++;
      stack.push({ value, used, latestStart, ...more, low: newLow, done: after });
    };
    // The one that ended first comes last on the stack, and is tried first.
    for (const i of next.toReversed()) {
      const operation = musts[i];
      if (operation === undefined || operation.start > firstEnd) continue;
      if (operation.kind === 'write') {
        follow(i, { value: operation.value, latestStart: Math.max(latestStart, operation.start) });
        continue;
      }
      const fits = (seen: string): boolean => (seen === operation.value) === (operation.kind === 'read');
      for (const [n, write] of maybes.entries()) {
        if (write.start > firstEnd) break;
        if (used.includes(n) || !fits(write.value) || latestStart > (write.staleAfter ?? latestStart))
          continue;
        follow(i, {
          value: write.value,
          used: [...used, n].toSorted((a, b) => a - b),
          latestStart:
            write.staleAfter === undefined ? Number.NEGATIVE_INFINITY : Math.max(latestStart, write.start),
        });
      }
      if (fits(value)) follow(i);
    }
  }
  return stuck;
}

/** A commit of the branch, with what it changed; a merge of a service or of Git changes nothing by itself. */
export interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly by: 'person' | 'post';
  /** Bot and key, such as `1 website` → the value that it has from then on. */
  readonly writes: ReadonlyMap<string, string>;
  /** When the page says that it was edited, in milliseconds. */
  readonly edited: number;
}

/**
 * Returns why a value cannot be what merging leaves of a register; undefined where it can. It is of a commit that no other
 * overwrote, with that commit in its history; among several of these people win over posts, and of posts alone the later.
 * @param commits those of the branch, parents first
 */
export function findWrongMerge(
  commits: readonly Commit[],
  register: string,
  value: string,
): string | undefined {
  const writers = commits.filter(({ writes }) => writes.has(register));
  const places = new Map(writers.map(({ id }, i) => [id, 1n << BigInt(i)]));
  const reached = new Map<string, bigint>();
  let overwritten = 0n;
  for (const { id, parents } of commits) {
    const before = parents.reduce((all, parent) => all | (reached.get(parent) ?? 0n), 0n);
    const place = places.get(id) ?? 0n;
    if (place !== 0n) overwritten |= before;
    reached.set(id, before | place);
  }
  const last = writers.filter(({ id }) => ((places.get(id) ?? 0n) & overwritten) === 0n);
  const its = last.filter(({ writes }) => writes.get(register) === value);
  const others = (): string => last.map(({ id, writes }) => `${writes.get(register)} of ${id}`).join(', ');
  if (its.length === 0)
    return `${register} is ${value}, which was overwritten or never committed: it should be ${others()}`;
  // A value that was written twice is merged as if nobody had touched it, where the common commit has it too.
  const values = writers.map(({ writes }) => writes.get(register));
  if (last.some(({ writes }) => values.filter((one) => one === writes.get(register)).length > 1))
    return undefined;
  // What people committed may have given way to other people, whose commit a post came on top of.
  const people = writers
    .filter(({ by }) => by === 'person')
    .reduce((all, { id }) => all | (places.get(id) ?? 0n), 0n);
  const isLast = last.some(
    ({ id }) => (people & ~(reached.get(id) ?? 0n)) === 0n && ((places.get(id) ?? 0n) & people) !== 0n,
  );
  if (isLast && its.every(({ by }) => by === 'post'))
    return `${register} is ${value} of a post, although people committed: ${others()}`;
  if (writers.some(({ by }) => by === 'person')) return undefined;
  const latest = Math.max(...last.map(({ edited }) => edited));
  if (its.every(({ edited }) => edited < latest))
    return `${register} is ${value} of an earlier post: ${others()}`;
  return undefined;
}

/** A write that was answered, and what may excuse that the branch has it not. */
export interface AnsweredWrite {
  readonly register: string;
  readonly value: string;
  /** Whether a force push dropped it, or a key of it was changed by one that its machine had not seen. */
  readonly isRewritten: boolean;
}

/** Returns the answered writes that no commit of the branch has. */
export function findLost(commits: readonly Commit[], answered: readonly AnsweredWrite[]): AnsweredWrite[] {
  const made = new Set(commits.flatMap(({ writes }) => [...writes].map((write) => write.join(' '))));
  return answered.filter(
    ({ register, value, isRewritten }) => !isRewritten && !made.has(`${register} ${value}`),
  );
}

/** A step of a proposal that somebody asked for. */
export interface ProposalDeed {
  readonly what: 'send' | 'withdraw' | 'accepted' | 'declined' | 'changes-asked';
  /** The bot and the account. */
  readonly proposal: string;
  /** What was sent, or what the version that was decided about has. */
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly isAnswered: boolean;
  /** Whether a force push may have dropped what it led to. */
  readonly isRewritten: boolean;
}

/** Where proposals are in the end, by bot and account. */
export interface ProposalEnds {
  /** Those whose ref is open still. */
  readonly open: ReadonlySet<string>;
  /** Proposal → the values in the history of its refs. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
  /** Every value that a commit of the branch wrote. */
  readonly inBranch: ReadonlySet<string>;
}

/** Returns what is wrong with the proposals in the end. @param areTimesRight whether no clock was wrong */
export function findWrongProposals(
  deeds: readonly ProposalDeed[],
  { open, values, inBranch }: ProposalEnds,
  areTimesRight: boolean,
): string[] {
  const faults: string[] = [];
  const of = (what: ProposalDeed['what'], name: string): ProposalDeed[] =>
    deeds.filter((deed) => deed.what === what && deed.proposal === name);
  for (const { what, proposal, value, start, isAnswered, isRewritten } of deeds) {
    const accepts = of('accepted', proposal).filter((deed) => deed.value === value);
    if (what === 'send' && inBranch.has(value) && accepts.length === 0)
      faults.push(`the proposal ${proposal} of ${value} is in the branch, and nobody accepted it`);
    if (!isAnswered) continue;
    if (!(values.get(proposal)?.has(value) ?? false))
      faults.push(`the proposal ${proposal} of ${value} is lost after ${what}`);
    if (what === 'accepted' && !inBranch.has(value) && !isRewritten)
      faults.push(`the proposal ${proposal} of ${value} was accepted and is not in the branch`);
    const isEnd = what === 'withdraw' || what === 'declined' || what === 'accepted';
    if (isEnd && areTimesRight && of('send', proposal).every(({ end }) => end < start) && open.has(proposal))
      faults.push(`the proposal ${proposal} is open after ${what} of ${value}`);
  }
  return [...new Set(faults)];
}

/** What a service logs when something goes wrong, and the kinds of trouble that explain it. */
export interface Explanation {
  readonly pattern: RegExp;
  readonly by: readonly string[];
}

/** Returns the warnings and errors that no trouble explains which the machine had before. */
export function findUnexplainedLines(
  lines: readonly { readonly at: number; readonly text: string }[],
  troubles: readonly { readonly kind: string; readonly start: number }[],
  explanations: readonly Explanation[],
): string[] {
  const isExplained = (at: number, text: string): boolean =>
    explanations.some(
      ({ pattern, by }) =>
        pattern.test(text) &&
        (by.length === 0 || troubles.some(({ kind, start }) => start <= at && by.includes(kind))),
    );
  return lines.filter(({ at, text }) => !isExplained(at, text)).map(({ text }) => text);
}
