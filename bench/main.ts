import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { cdn } from './cdn.ts';
import { check } from './check.ts';
import { content } from './content.ts';
import { counts } from './counts.ts';
import { days } from './days.ts';
import { hostile } from './hostile.ts';
import { memory } from './memory.ts';
import { openData } from './open-data.ts';
import { pages } from './pages.ts';
import { reads } from './reads.ts';
import { formatGrowth, formatRow, heading, type Row, type RowGroup } from './rows.ts';
import { scale } from './scale.ts';
import { search } from './search.ts';
import { setStage } from './stage.ts';
import { starts } from './starts.ts';
import { sync } from './sync.ts';

const maxGroupMs = 10 * 60_000;

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const groups: Readonly<Record<string, RowGroup>> = {
  starts,
  check,
  reads,
  pages,
  counts,
  days,
  content,
  sync,
  search,
  'open-data': openData,
  memory,
};
const onlyByName = { scale, cdn, hostile };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { bots: { type: 'string', default: '100000' }, help: { type: 'boolean', default: false } },
});
const sizes = values.bots
  .split(',')
  .map(Number)
  .toSorted((a, b) => a - b);
const all: Readonly<Record<string, RowGroup>> = { ...groups, ...onlyByName };
if (values.help || positionals.some((name) => !(name in all)) || !sizes.every((n) => n > 0 && n % 1 === 0)) {
  print(
    `usage: npm run bench -- [--bots N[,N]…] [GROUP]…\ngroups: ${Object.keys(groups).join(', ')}; only if named: ${Object.keys(onlyByName).join(', ')}`,
  );
  if (!values.help) process.exitCode = 2;
} else {
  const date = new Date().toISOString().slice(0, 10);
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  print(
    `${date}, ${cpus().length} cores, ${gibibytes} GiB, Node ${process.versions.node}, ${values.bots} bots\n`,
  );
  const names = positionals.length > 0 ? positionals : Object.keys(groups);
  await (sizes.length === 1 ? printRows(names) : printGrowth(names));
}

async function printRows(names: readonly string[]): Promise<void> {
  print(heading);
  for await (const { name, row } of measure(sizes[0] ?? 0, names)) print(formatRow(row, `\`${name}\``));
}

/** Prints one table of all sizes, and meanwhile each row on standard error. */
async function printGrowth(names: readonly string[]): Promise<void> {
  const rows = new Map<string, Row[]>();
  for (const [column, size] of sizes.entries())
    for await (const { name, row } of measure(size, names)) {
      process.stderr.write(`${size} ${formatRow(row, `\`${name}\``)}\n`);
      const missing = sizes.map(() => ({ goal: row.goal, measured: '' }));
      rows.set(row.goal, (rows.get(row.goal) ?? missing).with(column, row));
    }
  print(formatGrowth(sizes, rows));
}

/** Yields the rows of groups. One that fails, or takes longer than ten minutes, is named in a row of its own. */
async function* measure(bots: number, names: readonly string[]): AsyncGenerator<{ name: string; row: Row }> {
  const stage = await setStage(bots);
  for (const name of names) {
    // A collection of what the last group left would count as waiting in this one.
    globalThis.gc?.();
    const end = performance.now() + maxGroupMs;
    try {
      for await (const row of all[name]?.(stage) ?? []) {
        yield { name, row };
        if (name in onlyByName || performance.now() < end) continue;
        yield {
          name,
          row: { goal: `the rest of ${name}`, measured: 'left out, because it took ten minutes' },
        };
        break;
      }
    } catch (error) {
      process.exitCode = 1;
      const [reason] = String(error).split('\n');
      yield { name, row: { goal: `the rest of ${name}`, measured: `not measured: ${reason}`, met: false } };
    }
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
