import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/*
 * Runs the tests of the tiers that are named, such as `process browser`, or of `unit`; further arguments are mocha's.
 * The last lines name the tests that need a missing tool, the other tiers, and the totals.
 */
const mocha = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'));
const cores = availableParallelism();

/** Tier → its files, how many run at the same time, and what it holds. */
const tiers = {
  unit: {
    files: ['dist/test/**/*.test.js', '--ignore=dist/test/{process,browser,verify}/**'],
    jobs: cores,
    holds: 'units, Git, HTTP and the commands',
  },
  process: {
    files: ['dist/test/process/**/*.test.js'],
    // Most of these tests wait for processes that they start.
    jobs: cores * 2,
    holds: 'kills, signals, several machines, clients, the package and the documents',
  },
  browser: { files: ['dist/test/browser/**/*.test.js'], jobs: 1, holds: 'pages in Chromium' },
  verify: {
    files: ['dist/test/verify/**/*.test.js'],
    jobs: cores * 2,
    holds: 'power loss, simulation, failing calls, fuzzing, hostile requests and crashes, in short',
  },
};
type Tier = keyof typeof tiers;

const args = process.argv.slice(2);
const named = args.filter((arg): arg is Tier => arg in tiers);
const chosen: readonly Tier[] = named.length > 0 ? named : ['unit'];
const options = args.filter((arg) => !(arg in tiers));

const totals = new Map<string, number>([
  ['passing', 0],
  ['failing', 0],
]);
const notRun = new Set<string>();
const started = performance.now();
for (const tier of chosen) if (!(await run(tier))) process.exitCode = 1;

const seconds = Math.round((performance.now() - started) / 1000);
const others = (Object.keys(tiers) as Tier[]).filter((tier) => !chosen.includes(tier));
process.stdout.write(['', ...notRun, ''].join('\n'));
for (const tier of others)
  process.stdout.write(`  not in this run: npm run test:${tier} (${tiers[tier].holds})\n`);
for (const [what, many] of totals)
  process.stdout.write(`  ${many} ${what}${what === 'passing' ? ` (${seconds}s)` : ''}\n`);

/** Runs the tests of a tier. Returns whether all passed. */
async function run(tier: Tier): Promise<boolean> {
  const { files, jobs } = tiers[tier];
  const parallel = jobs > 1 ? ['--parallel', `--jobs=${jobs}`] : [];
  const child = spawn(process.execPath, [mocha, ...parallel, ...files, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    printed += text;
  });
  await once(child, 'close');
  for (const [line] of printed.matchAll(/^not run here: .*$/gm)) notRun.add(line);
  for (const [, many, what = ''] of printed.matchAll(/^ {2}(\d+) (passing|failing)\b/gm))
    totals.set(what, (totals.get(what) ?? 0) + Number(many));
  return child.exitCode === 0;
}
