import type { BotId } from '../bot/id.ts';
import type { TokenDigest } from '../bot/token.ts';
import { type BotState, createBotState, maxTime } from './bot-state.ts';

/** A line of the state ref that cannot be read. */
export interface ShardFault {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** What is wrong, a colon, and the fix. */
  readonly message: string;
}

/** Returns which of the 10,000 files of the state ref has a bot: its id's last four digits as a number. */
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
 * Calls `take` with every bot of a shard, and returns the lines that were skipped: those that `writeShard` would not
 * write. Order and trailing commas are ignored, as merges by hand get them wrong.
 */
export function readShard(
  path: string,
  text: string,
  take: (id: BotId, botState: BotState) => void,
): readonly ShardFault[] {
  const faults: ShardFault[] = [];
  const number = Number.parseInt(path.slice(0, 2) + path.slice(3, 5), 10);
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const [index, line] of lines.entries()) {
    if (index === 0 ? line === '{' : index === lines.length - 1 && line === '}') continue;
    const message = parseShardLine(number, line, take);
    if (message !== undefined) faults.push({ path, line: index + 1, message });
  }
  return faults;
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

function parseShardLine(
  shard: number,
  line: string,
  take: (id: BotId, botState: BotState) => void,
): string | undefined {
  const match = pattern.exec(line);
  if (match === null)
    return 'this is not a line of a state: restore it from an older commit of the state ref';
  const [, digits = '', count, countedAt, digest, tokenAt, generation, edited] = match;
  const id = digits as BotId;
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
            digest: (digest ?? null) as TokenDigest | null,
            at: Number(tokenAt),
            generation: Number(generation),
          },
      edited === undefined ? undefined : Number(edited),
    ),
  );
  return undefined;
}
