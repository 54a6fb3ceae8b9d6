import type { BotId } from '../bot/id.ts';

/** An hour that has its counts in a file. */
export interface Hour {
  /** Since the epoch. */
  readonly hour: number;
  /** What the tree of its last commit was. */
  readonly tree: string;
}

/** The folder in the tree of a pruned commit that holds the hours of its day. */
export const hoursFolder = 'hours';

/** Names the hours of the day and their trees. */
export const hoursIndex = `${hoursFolder}/trees`;

/**
 * Returns the files that keep the hours of a day, path → text. Bots share a file by the first two of their last four
 * digits; a line is the id, then for each hour the change since the hour before, empty where there is none.
 * @param hours ascending
 * @param counts of each bot the counts in the order of `hours`, undefined where it is the one before or there is none
 */
export function writeHours(
  hours: readonly Hour[],
  counts: ReadonlyMap<BotId, readonly (number | undefined)[]>,
): Map<string, string> {
  const files = new Map<string, string[]>();
  for (const [id, values] of counts) {
    const path = toHourFilePath(id);
    const lines = files.get(path) ?? [];
    files.set(path, lines);
    lines.push(formatHourLine(id, values));
  }
  const index = hours.map(({ hour, tree }) => `${hour} ${tree}\n`).join('');
  const texts = [...files].map(([path, lines]): [string, string] => [
    path,
    `${lines.toSorted().join('\n')}\n`,
  ]);
  return new Map([[hoursIndex, index], ...texts]);
}

/** Parses `hours/trees`; lines that are none are left out. */
export function parseHoursIndex(text: string): Hour[] {
  return text.split('\n').flatMap((line) => {
    const [, hour, tree = ''] = /^(\d{1,9}) ([0-9a-f]{40,64})$/.exec(line) ?? [];
    return hour === undefined ? [] : [{ hour: Number(hour), tree }];
  });
}

/** Calls `take` with the counts of each bot in a file, one for each hour; lines that are none are left out. */
export function readHours(
  text: string,
  take: (id: BotId, counts: readonly (number | undefined)[]) => void,
): void {
  for (const line of text.split('\n')) {
    if (!/^\d{1,20}(?:,(?:-?\d{1,11})?)*$/.test(line)) continue;
    const [id = '', ...changes] = line.split(',');
    let count: number | undefined;
    const counts = changes.map((change) => {
      if (change !== '') count = (count ?? 0) + Number(change);
      return count;
    });
    take(id as BotId, counts);
  }
}

function toHourFilePath(id: BotId): string {
  return `${hoursFolder}/${id.slice(-4).padStart(4, '0').slice(0, 2)}`;
}

function formatHourLine(id: BotId, counts: readonly (number | undefined)[]): string {
  let before: number | undefined;
  const changes = Array.from(counts, (count = before) => {
    const change = count === undefined || count === before ? '' : String(count - (before ?? 0));
    before = count;
    return change;
  });
  return `${id},${changes.join(',')}`;
}
