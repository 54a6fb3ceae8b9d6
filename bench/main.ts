import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { check } from './check.ts';
import { content } from './content.ts';
import { counts } from './counts.ts';
import { days } from './days.ts';
import { memory } from './memory.ts';
import { openData } from './open-data.ts';
import { pages } from './pages.ts';
import { reads } from './reads.ts';
import { formatRow, heading, type RowGroup } from './rows.ts';
import { search } from './search.ts';
import { setStage } from './stage.ts';
import { starts } from './starts.ts';
import { sync } from './sync.ts';

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
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { bots: { type: 'string', default: '100000' }, help: { type: 'boolean', default: false } },
});
const bots = Number(values.bots);
if (values.help || positionals.some((name) => !(name in groups)) || !Number.isInteger(bots) || bots < 1) {
  print(`usage: npm run bench -- [--bots N] [GROUP]…\ngroups: ${Object.keys(groups).join(', ')}`);
  if (!values.help) process.exitCode = 2;
} else {
  await run(positionals.length > 0 ? positionals : Object.keys(groups));
}

async function run(names: readonly string[]): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  print(`${date}, ${cpus().length} cores, ${gibibytes} GiB, Node ${process.versions.node}, ${bots} bots\n`);
  const stage = await setStage(bots);
  print(heading);
  for (const name of names) {
    // A collection of what the last group left would count as waiting in this one.
    globalThis.gc?.();
    const command = `\`${name}\``;
    try {
      for await (const row of groups[name]?.(stage) ?? []) print(formatRow(row, command));
    } catch (error) {
      process.exitCode = 1;
      const measured = error instanceof Error ? error.message : String(error);
      print(formatRow({ goal: 'not measured', measured, met: false }, command));
    }
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
