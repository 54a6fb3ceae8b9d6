import { isAhead, maxTime, msPerDay, toClockTime } from '../bot/clock.ts';
import { type BotId, compareBotIds } from '../bot/id.ts';
import type { TokenDigest } from '../bot/token.ts';
import { splitLines } from '../lib/text.ts';
import { forEachInSlices, sortInSlices, type TimeSlice } from '../lib/time-slice.ts';

/** The state of one bot. A missing key was never set. */
export interface BotState {
  readonly count?: Count;
  readonly token?: TokenState;
  /** When a commit last changed a file of the bot; milliseconds since the epoch. See `setEditedTimes`. */
  readonly edited?: number;
}

/** The number of servers a bot is in, as its owner posted it. */
export interface Count {
  readonly value: number;
  /**
   * When it was posted, as `countTimeAfter` returns it: later than any count it replaces. `toClockTime` converts it to
   * a time.
   */
  readonly at: number;
}

/** The current token of a bot. A revocation is kept too: without it, a merge would restore the token. */
interface TokenState {
  /** Null if the token is revoked. */
  readonly digest: TokenDigest | null;
  /** When it was issued or revoked: milliseconds since the epoch. */
  readonly at: number;
  /** 1 for the first token of a bot; raised by one by each issue and each revocation. */
  readonly generation: number;
}

/** Returns a BotState with the defined parts only. Always the same few object shapes, because there are many of them. */
export function createBotState(count?: Count, token?: TokenState, edited?: number): BotState {
  if (edited !== undefined) return { ...createBotState(count, token), edited };
  if (count === undefined) return token === undefined ? {} : { token };
  return token === undefined ? { count } : { count, token };
}

/**
 * Merges two states of a bot: the later count, the token of the higher generation and the later edit. Returns `a` itself if
 * `b` adds nothing. Merging is commutative, associative and idempotent, so replicas converge in whatever order they merge.
 */
export function mergeBotStates(a: BotState, b: BotState): BotState {
  const count = chooseLaterCount(a.count, b.count);
  const token = mergeTokens(a.token, b.token);
  const edited = chooseLater(a.edited, b.edited);
  const isSame = a.count === count && a.token === token && a.edited === edited;
  return isSame ? a : createBotState(count, token, edited);
}

/** Returns the later of two times. */
function chooseLater(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** Returns the later of two counts; of two with the same time, the larger. */
export function chooseLaterCount(a: Count | undefined, b: Count | undefined): Count | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (b.at - a.at || b.value - a.value) > 0 ? b : a;
}

/**
 * Returns the token of the higher generation, whatever the clocks say. Two different tokens of the same generation are
 * both revoked: two replicas issued them without knowing of each other, and a replaced token must not become valid
 * again.
 */
export function mergeTokens(a: TokenState | undefined, b: TokenState | undefined): TokenState | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.generation !== b.generation) return b.generation > a.generation ? b : a;
  const later = b.at > a.at ? b : a;
  return a.digest === b.digest || later.digest === null ? later : { ...later, digest: null };
}

/** A line of the state ref that cannot be read. */
export interface ShardFault {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The problem, a colon, and the fix. */
  readonly message: string;
}

/** The lines of a state that are skipped: the first ten, and how many more there are. */
export class SkippedLines {
  readonly first: ShardFault[] = [];
  more = 0;

  add(fault: ShardFault): void {
    if (this.first.length < maxNamedLines) this.first.push(fault);
    else this.more++;
  }
}

const maxNamedLines = 10;

/** Returns the number of the file, of the 10,000 in the state ref, that has a bot: the last four digits of its id. */
export function toShardNumber(id: BotId): number {
  return Number.parseInt(id.slice(-4), 10);
}

/** Returns the path of that file, `<ab>/<cd>.json`. */
export function toShardPath(number: number): string {
  const digits = String(number).padStart(4, '0');
  return `${digits.slice(0, 2)}/${digits.slice(2)}.json`;
}

/** Returns the text of a shard: a JSON object with one line per bot, in the order of `bots`. */
export function writeShard(bots: readonly BotId[], stateOf: (id: BotId) => BotState): string {
  return `{\n${bots.map((id) => formatShardLine(id, stateOf(id))).join(',\n')}\n}\n`;
}

/**
 * Calls `take` with every bot of a shard, and `skip` with the lines that `writeShard` would not write. Order, braces
 * and trailing commas are ignored, because manual merges break them.
 * @param slice pauses when it is over
 */
export async function readShard(
  path: string,
  content: Buffer,
  slice: TimeSlice,
  take: (id: BotId, botState: BotState) => void,
  skip: (fault: ShardFault) => void = () => {},
): Promise<void> {
  const shard = Number.parseInt(path.slice(0, 2) + path.slice(3, 5), 10);
  let number = 0;
  for (const lines of splitLines(content)) {
    if (slice.isOver) await slice.next();
    for (const line of lines) {
      number++;
      if (line === '{' || line === '}') continue;
      const message = parseShardLine(shard, line, take);
      if (message !== undefined) skip({ path, line: number, message });
    }
  }
}

function formatShardLine(id: BotId, { count, token, edited }: BotState): string {
  const parts: string[] = [];
  if (count) parts.push(`"count":${count.value},"countedAt":${count.at}`);
  if (token) {
    const digest = token.digest === null ? 'null' : `"${token.digest}"`;
    parts.push(`"token":${digest},"tokenAt":${token.at},"tokenGen":${token.generation}`);
  }
  if (edited !== undefined) parts.push(`"edited":${edited}`);
  return `"${id}":{${parts.join(',')}}`;
}

const pattern =
  /^"(\d{1,20})": ?\{(?:"count":(\d{1,11}),"countedAt":(\d{1,16})(?:,(?="))?)?(?:"token":(?:null|"(sha256:[0-9a-f]{64})"),"tokenAt":(\d{1,16}),"tokenGen":([1-9]\d{0,14})(?:,(?="))?)?(?:"edited":(\d{1,16}))?\},?$/;

/** The largest number that `pattern` matches. */
export const maxGeneration = 999_999_999_999_999;

function parseShardLine(
  shard: number,
  line: string,
  take: (id: BotId, botState: BotState) => void,
): string | undefined {
  const match = pattern.exec(line);
  if (match === null)
    return 'this is not a line of a state: restore it from an older commit of the state ref';
  const [, digits = '', count, countedAt, digest, tokenAt, generation, edited] = match;
  const id = copyText(digits) as BotId;
  const number = toShardNumber(id);
  if (number !== shard) return `${id} does not belong here: move the line to ${toShardPath(number)}`;
  const late = [countedAt, tokenAt, edited].find((time) => Number(time ?? 0) > maxTime);
  if (late !== undefined) return `${late} is not a time: the last one is ${maxTime}`;
  take(
    id,
    createBotState(
      countedAt === undefined ? undefined : { value: Number(count), at: Number(countedAt) },
      tokenAt === undefined
        ? undefined
        : {
            digest: digest === undefined ? null : (copyText(digest) as TokenDigest),
            at: Number(tokenAt),
            generation: Number(generation),
          },
      edited === undefined ? undefined : Number(edited),
    ),
  );
  return undefined;
}

/** Copies a part of a text, because V8 keeps the whole text in memory for a slice of it. */
export function copyText(text: string): string {
  return Buffer.from(text).toString();
}

/** The state of every bot, in memory. A bot's state changes by merging only. */
export class State {
  readonly #bots = new Map<BotId, BotState>();
  readonly #holders = new Map<TokenDigest, BotId>();
  readonly #shards = new Map<number, BotId[]>();
  /** The bots whose count was ahead of the clock when it was merged. */
  readonly #ahead = new Set<BotId>();
  #version = 0;
  /** Called with a bot whose time of the last edit has changed. */
  onEdited: (id: BotId) => void = () => {};

  /** Grows with each change of a count. */
  get version(): number {
    return this.#version;
  }

  /** The state of each bot that has one. */
  get bots(): ReadonlyMap<BotId, BotState> {
    return this.#bots;
  }

  /** Returns the state of a bot; an empty one for a bot without any. */
  get(id: BotId): BotState {
    return this.#bots.get(id) ?? none;
  }

  token(id: BotId): TokenState | undefined {
    return this.#bots.get(id)?.token;
  }

  hasToken(id: BotId): boolean {
    return (this.token(id)?.digest ?? null) !== null;
  }

  holder(digest: TokenDigest): BotId | undefined {
    return this.#holders.get(digest);
  }

  /** Merges `botState` into the state of a bot. Returns whether anything changed. */
  merge(id: BotId, botState: BotState): boolean {
    const known = this.#bots.get(id);
    const merged = mergeBotStates(known ?? none, botState);
    if (merged === known) return false;
    const { count, token, edited } = merged;
    if (known === undefined) this.#addToShard(id);
    if (known?.count?.value !== count?.value) this.#version++;
    if (known?.token !== token) this.#moveToken(id, known?.token, token);
    if (count !== undefined && isAhead(count.at)) this.#ahead.add(id);
    this.#bots.set(id, merged);
    if (known?.edited !== edited) this.onEdited(id);
    return true;
  }

  /** Returns a bot whose count is from a clock that is ahead of this machine's, or undefined. */
  findAhead(): BotId | undefined {
    for (const id of this.#ahead) {
      if (isAhead(this.get(id).count?.at ?? 0)) return id;
      this.#ahead.delete(id);
    }
    return undefined;
  }

  /** Returns the bots of one file of the state ref, in numeric order. */
  listBots(shard: number): readonly BotId[] {
    return (this.#shards.get(shard) ?? []).toSorted(compareBotIds);
  }

  #addToShard(id: BotId): void {
    const number = toShardNumber(id);
    const bots = this.#shards.get(number);
    if (bots) bots.push(id);
    else this.#shards.set(number, [id]);
  }

  #moveToken(id: BotId, from: TokenState | undefined, to: TokenState | undefined): void {
    if (from?.digest && this.#holders.get(from.digest) === id) this.#holders.delete(from.digest);
    if (to?.digest) this.#holders.set(to.digest, id);
  }
}

const none: BotState = {};

/** The count that a bot had at the end of a day, and its time as `Count` has it, if that is known. */
export type CountOfDay = readonly [id: BotId, count: number, at?: number];

/** Returns the day (UTC), since the epoch, of a count's time. */
export function toDay(at: number): number {
  return Math.floor(toClockTime(at) / msPerDay);
}

/** The first day of 2020: an earlier one is from a clock that was not set. */
export const minDay: number = toDay(Date.UTC(2020, 0));

/** Returns the path of a day's file in the state ref: `days/2026/11-22`. */
export function toDayPath(day: number): string {
  const date = new Date(day * msPerDay).toISOString().slice(0, 10);
  return `days/${date.replace('-', '/')}`;
}

/** Returns whether a path in the state ref is that of a day's file. */
export function isDayPath(path: string): boolean {
  return path.startsWith('days/');
}

/** Returns the day of a day's file in the state ref; undefined if the path is of no day. */
export function parseDayPath(path: string): number | undefined {
  const [, year, date] = /^days\/(\d{4})\/(\d\d-\d\d)$/.exec(path) ?? [];
  const day = Date.parse(`${year}-${date}`) / msPerDay;
  // Refuses dates such as 02-31, which is parsed as 03-03.
  return !Number.isNaN(day) && toDayPath(day) === path ? day : undefined;
}

/**
 * Returns the last day that is over and has a file. The counts of earlier days, which a state has, are in their files;
 * those of that day may not be.
 * @param days that have a file
 */
export function findLastDay(days: readonly number[]): number {
  const today = toDay(Date.now());
  return days.reduce((last, day) => (day < today && day > last ? day : last), minDay);
}

/** Counts that the files of days may not have, by day: of each bot the last one. */
export class DayCounts {
  readonly #days = new Map<number, Map<BotId, Count>>();

  /** Adds a count, unless it is from a clock that was not set or is ahead. */
  add(id: BotId, count: Count): void {
    const day = toDay(count.at);
    if (day < minDay || isAhead(count.at)) return;
    const counts = this.#days.get(day) ?? new Map<BotId, Count>();
    this.#days.set(day, counts.set(id, chooseLaterCount(counts.get(id), count) ?? count));
  }

  has(day: number): boolean {
    return this.#days.has(day);
  }

  /** Moves the counts of the days before `end` into others. */
  moveBefore(end: number, others: DayCounts): void {
    for (const [day, counts] of this.#days) {
      if (day >= end) continue;
      this.#days.delete(day);
      for (const [id, count] of counts) others.add(id, count);
    }
  }

  /** Returns the files of the days by path, with these counts only. */
  async writeFiles(): Promise<Map<string, string>> {
    const files = new Map<string, string>();
    for (const [day, counts] of this.#days) files.set(toDayPath(day), await writeDay(toLines(counts)));
    return files;
  }
}

function toLines(counts: ReadonlyMap<BotId, Count>): CountOfDay[] {
  return Array.from(counts, ([id, { value, at }]) => [id, value, at]);
}

/** Returns the text of a day's file: a line for each bot, in the order of the ids. */
export async function writeDay(counts: readonly CountOfDay[]): Promise<string> {
  const sorted = await sortInSlices(counts, ([a], [b]) => compareBotIds(a, b));
  let text = '';
  const write = ([id, count, at]: CountOfDay): void =>
    void (text += at ? `${id} ${count} ${at}\n` : `${id} ${count}\n`);
  await forEachInSlices(sorted, write, 'service');
  return text;
}

/** Yields the counts of a day's file, some at a time; invalid lines are skipped. */
export function* parseDay(content: Buffer): Generator<readonly CountOfDay[]> {
  for (const lines of splitLines(content)) {
    const counts: CountOfDay[] = [];
    for (const line of lines) {
      const [, id, count, time] = /^(\d{1,20}) (\d{1,11})(?: (\d{1,16}))?$/.exec(line) ?? [];
      const at = time === undefined ? undefined : Number(time);
      if (id === undefined || (at ?? 0) > maxTime) continue;
      counts.push(at === undefined ? [id as BotId, Number(count)] : [id as BotId, Number(count), at]);
    }
    yield counts;
  }
}

/**
 * Merges other files of a day into a known one. Of two lines for a bot the later wins, a known time over an unknown one, and
 * otherwise the larger count: so the order of merges makes no difference. Returns undefined if the others add nothing.
 */
export async function mergeDays(known: Buffer, ...others: readonly Buffer[]): Promise<string | undefined> {
  const counts = new Map<BotId, Count>();
  let isChanged = false;
  const add = (some: readonly CountOfDay[]): void => {
    for (const [id, value, at = 0] of some) {
      const before = counts.get(id);
      const later = chooseLaterCount(before, { value, at });
      if (later === undefined || later === before) continue;
      counts.set(id, later);
      isChanged = true;
    }
  };
  await forEachInSlices(parseDay(known), add, 'service');
  isChanged = false;
  for (const other of others) await forEachInSlices(parseDay(other), add, 'service');
  return isChanged ? await writeDay(toLines(counts)) : undefined;
}
