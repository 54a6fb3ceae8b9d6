import { ok, strictEqual } from 'node:assert/strict';

/** A write that was sent to a service, and what is known of it. Times are milliseconds of one clock. */
export interface Write {
  readonly bot: string;
  /** Which of the services it was sent to. */
  readonly writer: string;
  readonly kind: 'count' | 'content';
  /** No two writes of a bot and kind have the same. */
  readonly value: number;
  readonly sentAt: number;
  /** Undefined while, or because, there is no answer: it may have been made or not. */
  readonly answeredAt: number | undefined;
  /** The content commit that the answer named. */
  readonly commit: string | null;
}

/** Records what was written by whom and when, and holds against it what is there in the end. */
export class History {
  readonly #writes: Write[] = [];

  /** Sends a write, which returns the commit of its response, and records it. @throws what it throws */
  async record(
    write: Pick<Write, 'bot' | 'writer' | 'kind' | 'value'>,
    send: () => Promise<string | null>,
  ): Promise<void> {
    const entry = { ...write, sentAt: performance.now(), answeredAt: undefined, commit: null };
    const index = this.#writes.push(entry) - 1;
    const commit = await send();
    this.#writes[index] = { ...entry, answeredAt: performance.now(), commit };
  }

  /** How many writes were answered. */
  get answered(): number {
    return this.#writes.filter(({ answeredAt }) => answeredAt !== undefined).length;
  }

  /** Every commit that an answer has named is among `commits`. */
  assertCommits(commits: ReadonlySet<string>): void {
    for (const { commit, bot, value } of this.#writes) {
      ok(
        commit === null || commits.has(commit),
        `the answered write ${value} of bot ${bot}, ${commit}, is lost`,
      );
    }
  }

  /** What a bot has in the end was written, and nothing that was answered was written after it. */
  assertLatest(bot: string, kind: Write['kind'], value: number): void {
    const all = this.#writes.filter((write) => write.bot === bot && write.kind === kind);
    const last = all.find((write) => write.value === value);
    ok(last, `bot ${bot} has the ${kind} ${value}, which nobody wrote`);
    for (const { answeredAt, sentAt, value: later } of all) {
      ok(
        answeredAt === undefined || sentAt <= (last.answeredAt ?? Number.POSITIVE_INFINITY),
        `bot ${bot} has the ${kind} ${value}, but ${later} was written after it and answered`,
      );
    }
  }

  /** The bots that only one service was asked to write to, with that kind of write. */
  botsOfOneWriter(kind: Write['kind']): string[] {
    const writers = new Map<string, Set<string>>();
    for (const write of this.#writes) {
      if (write.kind !== kind) continue;
      writers.set(write.bot, (writers.get(write.bot) ?? new Set()).add(write.writer));
    }
    return [...writers].flatMap(([bot, its]) => (its.size === 1 ? [bot] : []));
  }

  /** The bots that were written to, with that kind of write. */
  bots(kind: Write['kind']): string[] {
    return [...new Set(this.#writes.filter((write) => write.kind === kind).map(({ bot }) => bot))];
  }
}

/** All of these are the same. */
export function assertSame(what: string, values: readonly string[]): void {
  for (const value of values) strictEqual(value, values[0], what);
}
