import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';

/*
 * Runs all tests: some mochas at a time, each with some files. Most tests wait for processes that they start, so there
 * are twice as many mochas as cores. A mocha that fails is run once more when the machine is quiet, and its failure is
 * named in either case: a test that passes only then has to be mended, and does not say that the service is broken.
 * What a mocha prints is printed when it ends; the last lines are what was not run because a tool is missing, the five
 * slowest mochas, what failed, and the totals of all.
 */
const top = fileURLToPath(new URL('../', import.meta.url));
const mocha = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'));

/** What takes longest begins first, so that no core is idle at the end. Files of one mocha share its browser. */
const longest = [
  ['scenarios/power-loss/power-loss'],
  ['scenarios/simulation/simulation'],
  ['scenarios/browser', 'scenarios/lists'],
  ['scenarios/docs'],
  ['scenarios/fuzz'],
  ['scenarios/package'],
  ['scenarios/hostile-requests'],
  ['proposals/host-review'],
  ['proposals/proposal-schedules', 'proposals/shared-proposals'],
  ['site/review/review-page', 'site/add/add-page'],
  ['scenarios/demo', 'scenarios/languages'],
  ['scenarios/forms', 'site/page/prose'],
  ['site/account/token-page', 'site/account/my-bots-routes', 'site/account/login-routes'],
  ['tokens/shared-tokens'],
  ['sync/sync-posts'],
  ['scenarios/faults/faults'],
  ['scenarios/unavailable'],
  ['scenarios/merge-crash'],
  ['scenarios/base-path'],
  ['commands/serve'],
  // These share the process that runs botshelf.
  ['commands/check', 'check/check-base', 'commands/check-partial-clone', 'commands/format'],
  [
    'check/check-pull-request',
    'check/check-pull-request-findings',
    'check/check-pull-request-refusals',
    'commands/check-report',
  ],
  ['commands/doctor-machine', 'commands/doctor-network', 'commands/doctor-results'],
].map((names) => names.map((name) => `${name}.test.js`));
const others = readdirSync(`${top}test`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.js') && !longest.flat().includes(name))
  .toSorted();
// Files that take some seconds are three to a mocha, the others ten, because each mocha takes half a second to load what
// it tests.
const chunks = [
  ...longest,
  ...inChunks(others.filter(isLong), 3),
  ...inChunks(
    others.filter((name) => !isLong(name)),
    10,
  ),
];

const seconds = new Map<string, number>();
const totals = new Map<string, number>([
  ['passing', 0],
  ['failing', 0],
  ['pending', 0],
]);
const notRun = new Set<string>();
const failures: string[] = [];
const started = performance.now();
// Unpacked once, as two that do it at the same time get in each other's way.
const browser = process.env['CHROMIUM_PATH'] ?? (await chromium.executablePath());

const failed: (readonly string[])[] = [];
await Promise.all(
  Array.from({ length: availableParallelism() * 2 }, async () => {
    for (let chunk = chunks.shift(); chunk; chunk = chunks.shift())
      if (!(await runChunk(chunk, 'first'))) failed.push(chunk);
  }),
);
for (const chunk of failed) if (!(await runChunk(chunk, 'again'))) process.exitCode = 1;

const minutes = ((performance.now() - started) / 60_000).toFixed(1);
process.stdout.write(['', ...notRun, ''].join('\n'));
const slowest = [...seconds].toSorted(([, a], [, b]) => b - a);
for (const [names, taken] of slowest.slice(0, 5))
  process.stdout.write(`  ${taken.toFixed(1).padStart(5)} s  ${names}\n`);
process.stdout.write(failures.join(''));
for (const [what, many] of totals)
  if (many > 0 || what !== 'pending')
    process.stdout.write(`  ${many} ${what}${what === 'passing' ? ` (${minutes}m)` : ''}\n`);

/** Whether the tests of a file start services, replicas or a browser, or are of the commands. */
function isLong(name: string): boolean {
  if (/^(?:scenarios|commands)\//.test(name)) return true;
  const imports = /from '[^']*\/support\/(?:browser|login-site|replica|service|service-process)\.js'/;
  return imports.test(readFileSync(`${top}test/${name}`, 'utf8'));
}

function inChunks(names: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(names.length / size) }, (_, i) =>
    names.slice(i * size, (i + 1) * size),
  );
}

/** Runs a mocha, and returns whether it passed. A first run that failed is not in the totals. */
async function runChunk(names: readonly string[], run: 'first' | 'again'): Promise<boolean> {
  const paths = names.map((name) => `dist/test/${name}`);
  // A flag of node that mocha has to pass on costs a second process for each mocha.
  const args = ['--enable-source-maps', mocha, ...process.argv.slice(2), ...paths];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CHROMIUM_PATH: browser },
  });
  const begun = performance.now();
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (printed += String(piece)));
  await once(child, 'close');
  seconds.set(names.join(' '), (performance.now() - begun) / 1000);
  process.stdout.write(printed);
  for (const [line] of printed.matchAll(/^not run here: .*$/gm)) notRun.add(line);
  const hasPassed = child.exitCode === 0;
  if (!hasPassed) {
    const [, reasons = ''] = printed.split(/^ {2}\d+ failing$/m);
    const ended = `mocha ended with ${child.exitCode ?? child.signalCode}, ${run === 'first' ? 'and is run again' : 'again'}`;
    failures.push(`\n${ended}: ${paths.join(' ')}\n${reasons.slice(0, 6000)}\n`);
    if (run === 'first') return false;
  }
  for (const [, many, what] of printed.matchAll(/^ {2}(\d+) (passing|failing|pending)\b.*$/gm))
    if (what !== undefined) totals.set(what, (totals.get(what) ?? 0) + Number(many));
  return hasPassed;
}
