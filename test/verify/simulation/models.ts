/* The invariants of everything that was done and seen. Nothing here uses the code of the service. */

/** A write of a register, a read of its value, or a read that found another value. */
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
 * come next is tried, and no state twice. A write that may be is only of use just before something that sees it; of those
 * that nothing tells apart the earliest is. After `maxStates` it is undecided.
 */
export function findUnexplained(
  initial: string,
  operations: readonly Operation[],
): Operation | 'undecided' | undefined {
  const musts = operations.filter(({ mayBe }) => mayBe !== true).toSorted((a, b) => a.start - b.start);
  const maybes = operations.filter(({ mayBe }) => mayBe === true).toSorted((a, b) => a.start - b.start);
  const seen = new Set(musts.filter(({ kind }) => kind !== 'write').map(({ value }) => value));
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
    if (tried.size > maxStates) return 'undecided';
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
      const alike = new Set<string>();
      for (const [n, write] of maybes.entries()) {
        if (write.start > firstEnd) break;
        if (used.includes(n) || !fits(write.value) || latestStart > (write.staleAfter ?? latestStart))
          continue;
        const value = seen.has(write.value) ? write.value : 'any other';
        const what = `${write.staleAfter === undefined} ${value}`;
        if (alike.has(what)) continue;
        alike.add(what);
        follow(i, {
          value,
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

/** As many as fit into memory. */
const maxStates = 2_000_000;

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
  // A person's commit may have been set aside for another person's, which a post then replaced.
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

/** A write that was answered. */
export interface AnsweredWrite {
  /** The machine that answered; null where people pushed it themselves. */
  readonly machine: number | null;
  readonly register: string;
  readonly value: string;
}

/** A move of a branch to a commit that does not have all that was there before. */
export interface Rewrite {
  /** The machine whose branch it is; null for the remote. */
  readonly machine: number | null;
  /** Whether it is a force push of a person. */
  readonly isForced: boolean;
  /** The commits that the branch had before, and has no longer. */
  readonly dropped: readonly Commit[];
  /** Register → its value before the move. */
  readonly before: ReadonlyMap<string, string>;
  /** The values of the last commit before the move that the remote had too, and those that the machine found at the remote. */
  readonly common: ReadonlyMap<string, string>;
  readonly remote: ReadonlyMap<string, string>;
}

/**
 * Whether a force push explains that no commit of the branch has a write: it dropped the commit, or the machine, which
 * makes one commit of all that it had not pushed, had replaced the value itself or found another one at the remote. What
 * people had pushed is such a write of any machine once the remote came back from a backup without it.
 */
export function isDropped(
  { machine, register, value }: AnsweredWrite,
  rewrites: readonly Rewrite[],
): boolean {
  return rewrites.some(
    (rewrite) =>
      rewrite.dropped.some(({ writes }) => writes.get(register) === value) &&
      (rewrite.machine === null ||
        ((machine === null || rewrite.machine === machine) &&
          (rewrite.before.get(register) !== value ||
            rewrite.common.get(register) !== rewrite.remote.get(register)))),
  );
}

/** Returns the answered writes that no commit of the branch has, unless a force push explains that. */
export function findLost<T extends AnsweredWrite>(
  commits: readonly Commit[],
  answered: readonly T[],
  rewrites: readonly Rewrite[],
): T[] {
  const made = new Set(commits.flatMap(({ writes }) => [...writes].map((write) => write.join(' '))));
  return answered.filter(
    (write) => !made.has(`${write.register} ${write.value}`) && !isDropped(write, rewrites),
  );
}

/** Returns the answered writes whose answer named a commit that did not make them. */
export function findMisnamed<T extends AnsweredWrite & { readonly commit: string | null }>(
  commits: readonly Commit[],
  answered: readonly T[],
): T[] {
  const known = new Map(commits.map(({ id, writes }) => [id, writes]));
  return answered.filter(
    ({ commit, register, value }) => commit !== null && known.get(commit)?.get(register) !== value,
  );
}

/** Returns the moves that no force push explains: a machine moves its branch back only where one has dropped a commit of it. */
export function findUnexplainedRewrites(rewrites: readonly Rewrite[]): Rewrite[] {
  const forced = rewrites.filter(({ isForced }) => isForced);
  const dropped = new Set(forced.flatMap((rewrite) => rewrite.dropped.map(({ id }) => id)));
  return rewrites.filter(
    (rewrite) =>
      !rewrite.isForced && (rewrite.machine === null || !rewrite.dropped.some(({ id }) => dropped.has(id))),
  );
}

/** A step of a proposal that somebody asked for. */
export interface ProposalDeed {
  readonly what: 'send' | 'withdraw' | 'accepted' | 'declined' | 'changes-asked' | 'taken-back';
  /** The bot and the account. */
  readonly proposal: string;
  /** The value that was sent, or that of the version that was decided about. */
  readonly value: string;
  readonly isAnswered: boolean;
  /** Whether a force push may have dropped its result. */
  readonly isRewritten: boolean;
}

/** Where proposals are in the end, by bot and account. */
export interface ProposalEnds {
  /** Proposal → the value that is open still. */
  readonly open: ReadonlyMap<string, string>;
  /** Proposal → the values in the history of its refs, of open and closed ones, and of closed ones alone. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
  readonly closed: ReadonlyMap<string, ReadonlySet<string>>;
  /** Every value that a commit of the branch wrote. */
  readonly inBranch: ReadonlySet<string>;
}

/** Returns what is wrong with the proposals in the end. */
export function findWrongProposals(
  deeds: readonly ProposalDeed[],
  { open, values, closed, inBranch }: ProposalEnds,
): string[] {
  const faults = [...open]
    .filter(([proposal, value]) => closed.get(proposal)?.has(value) === true)
    .map(([proposal, value]) => `the proposal ${proposal} of ${value} is open and closed`);
  const isEnd = ({ what }: ProposalDeed): boolean => ['withdraw', 'declined', 'accepted'].includes(what);
  for (const deed of deeds) {
    const { what, proposal, value, isAnswered, isRewritten } = deed;
    const related = deeds.filter((one) => one.proposal === proposal);
    const takenBack = related.filter((one) => one.what === 'taken-back');
    const isAccepted = related.some((one) => one.what === 'accepted' && one.value === value);
    if (what === 'send' && inBranch.has(value) && !isAccepted)
      faults.push(`the proposal ${proposal} of ${value} is in the branch, and nobody accepted it`);
    if (!isAnswered) continue;
    if (values.get(proposal)?.has(value) !== true)
      faults.push(`the proposal ${proposal} of ${value} is lost after ${what}`);
    if (what === 'accepted' && !inBranch.has(value) && !isRewritten)
      faults.push(`the proposal ${proposal} of ${value} was accepted and is not in the branch`);
    const isClosed = closed.get(proposal)?.has(value) === true;
    // A version that was sent elsewhere at the same time is still open.
    if (isEnd(deed) && !isClosed && (what === 'accepted' || !takenBack.some((one) => one.value === value)))
      faults.push(`the proposal ${proposal} of ${value} is not closed after ${what}`);
    const decisions = related.filter((one) => isEnd(one) || one.what === 'changes-asked');
    const hasOtherEnd = decisions.length > takenBack.length;
    if (what === 'taken-back' && isClosed && !hasOtherEnd && !isRewritten)
      faults.push(`the proposal ${proposal} of ${value} is closed after it was taken back`);
  }
  return [...new Set(faults)];
}

/** Something that went wrong at a machine. Times are milliseconds. */
export interface Trouble {
  readonly kind: string;
  readonly start: number;
  /** Infinity while it lasts. */
  readonly end: number;
}

/** A log line about a failure, and the kinds of trouble that explain it. */
export interface Explanation {
  readonly pattern: RegExp;
  readonly by: readonly string[];
  /** The number of such lines of a machine that need no trouble, because a busy machine is slow; 0 if left out. */
  readonly spare?: number;
}

/**
 * Returns the warnings and errors of a machine that no trouble explains.
 * @param after how many milliseconds after its end a trouble explains what is logged
 */
export function findUnexplainedLines(
  lines: readonly { readonly at: number; readonly text: string }[],
  troubles: readonly Trouble[],
  explanations: readonly Explanation[],
  after: number,
): string[] {
  const spared = new Map<Explanation, number>();
  const isExplained = (at: number, text: string): boolean => {
    const fitting = explanations.filter(({ pattern }) => pattern.test(text));
    const kinds = new Set(fitting.flatMap(({ by }) => by));
    if (troubles.some(({ kind, start, end }) => kinds.has(kind) && start <= at && at <= end + after))
      return true;
    const spare = fitting.find((one) => (spared.get(one) ?? 0) < (one.spare ?? 0));
    if (spare !== undefined) spared.set(spare, (spared.get(spare) ?? 0) + 1);
    return spare !== undefined;
  };
  return lines.filter(({ at, text }) => !isExplained(at, text)).map(({ text }) => text);
}

/** The final state of a machine, and the data that it serves. */
export interface EndState {
  /** The branch, the state and the proposals, as `git for-each-ref` lists them. */
  readonly refs: string;
  /** The uncommitted files, as `git status` lists them. */
  readonly uncommitted: string;
  /** The status of `/readyz`, and the faults that it names. */
  readonly readiness: number;
  readonly faults: readonly unknown[];
  /** Path → what is served there. */
  readonly responses: ReadonlyMap<string, string>;
}

/** Returns what differs between the machines, or from the remote, or is not in order. @param refs those of the remote */
export function findDifferences(refs: string, machines: readonly EndState[]): string[] {
  return machines.flatMap((machine, index) => {
    const faults: string[] = [];
    const add = (what: string): void => void faults.push(`machine ${index} ${what}`);
    if (machine.refs !== refs) add(`has other refs than the remote:\n${machine.refs}\nnot\n${refs}`);
    if (machine.uncommitted !== '') add(`has changes that are not committed: ${machine.uncommitted}`);
    if (machine.readiness !== 200 || machine.faults.length > 0)
      add(`is not ready: ${machine.readiness} ${JSON.stringify(machine.faults)}`);
    for (const [path, text] of machines[0]?.responses ?? [])
      if (machine.responses.get(path) !== text)
        add(`serves at ${path}\n${machine.responses.get(path)}\nand not, as machine 0,\n${text}`);
    return faults;
  });
}

/** The remains of a stopped machine. */
export interface Remains {
  /** The names of all its files. */
  readonly files: readonly string[];
  /** The output of `git worktree list`. */
  readonly worktrees: string;
  /** The faults that `git fsck` finds. */
  readonly broken: string;
  /** The commands of processes that still run for it. */
  readonly processes: readonly string[];
}

/** Returns the remains that should not be there. The next maintenance removes packs and indexes of a killed fetch. */
export function findLeftovers({ files, worktrees, broken, processes }: Remains): string[] {
  return [
    ...files.filter(
      (name) =>
        /\.lock$|(^|\/)(\.?tmp_|\.tmp-)|\.tmp$|fast_import_crash/.test(name) &&
        !/objects\/pack\/tmp_(?:pack|idx)_\w+$/.test(name),
    ),
    ...(worktrees.includes('\n') ? [`a worktree: ${worktrees}`] : []),
    ...(broken === '' ? [] : [`what git fsck finds: ${broken}`]),
    ...processes.map((command) => `the process ${command}`),
  ];
}
