import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { changes } from './changes.ts';
import { check } from './check.ts';
import { content } from './content.ts';
import { counts } from './counts.ts';
import { day } from './day.ts';
import { growth } from './growth.ts';
import { history } from './history.ts';
import { loadProgram } from './load.ts';
import { markdown } from './markdown.ts';
import { mirrors } from './mirrors.ts';
import { mixed } from './mixed.ts';
import { openData } from './open-data.ts';
import { overTime } from './over-time.ts';
import { pages } from './pages.ts';
import { proposals } from './proposals.ts';
import { reads } from './reads.ts';
import { failureLine, heading, type Row, type RowGroup, rowLines, type Run } from './row.ts';
import { search } from './search.ts';
import { searchQuality } from './search-quality.ts';
import { setStage, type Stage } from './stage.ts';
import { sitemap } from './sitemap.ts';
import { starts } from './starts.ts';
import { sync } from './sync.ts';

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const usualBots = '100000';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    bots: { type: 'string', default: usualBots },
    hours: { type: 'string', default: '24' },
    million: { type: 'boolean', default: false },
  },
});
/** What is measured when no group is named. */
const usual: Readonly<Record<string, RowGroup>> = {
  starts,
  check,
  reads,
  pages,
  sitemap,
  markdown,
  counts,
  content,
  mixed,
  sync,
  proposals,
  search,
};
const groups: Readonly<Record<string, RowGroup>> = {
  ...usual,
  day: day(Number(values.hours)),
  history,
  mirrors,
  changes,
  'search-quality': searchQuality,
  'over-time': overTime,
  'open-data': openData,
  growth: growth([1_000, 10_000, 100_000, ...(values.million ? [1_000_000] : [])]),
};
const unknown = positionals.filter((name) => !(name in groups));
const bots = Number(values.bots);
if (unknown.length > 0 || !Number.isInteger(bots) || bots < 1) {
  process.stderr.write(
    `usage: npm run bench -- [--bots N] [--hours N] [--million] [${Object.keys(groups).join(' | ')}]…\nunknown: ${unknown.join(' ')}\n`,
  );
  process.exitCode = 2;
} else {
  await run(positionals.length > 0 ? positionals : Object.keys(usual));
}

async function run(names: readonly string[]): Promise<void> {
  say(
    `${bots.toLocaleString('en')} bots, ${cpus().length} cores, load from ${loadProgram === 'wrk' ? 'wrk' : 'autocannon, as wrk is missing: install the Debian package "wrk"'}`,
  );
  let stage: Promise<Stage> | undefined;
  for (const name of names) {
    const group = groups[name];
    if (group === undefined) continue;
    // Generating the bots takes longer than what needs none of them.
    await runGroup(name, group === searchQuality ? searchQuality() : group(await (stage ??= setStage(bots))));
  }
}

async function runGroup(name: string, group: AsyncGenerator<Row>): Promise<void> {
  // A collection of what the last group left would count as waiting in this one.
  globalThis.gc?.();
  say(`\n${heading(name)}`);
  const rows: Row[] = [];
  try {
    for await (const row of group) rows.push(row);
  } catch (error) {
    say(failureLine(error instanceof Error ? error.message : String(error)));
  }
  for (const line of rowLines(rows, thisRun())) say(line);
}

function thisRun(): Run {
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores, ${gibibytes} GiB`,
    node: process.versions.node,
    options: [
      ...(values.bots === usualBots ? [] : [`--bots ${values.bots}`]),
      ...(values.million ? ['--million'] : []),
    ].join(' '),
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
