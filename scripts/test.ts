import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Runs the tests of the tiers that are named, such as `process browser`, or of `unit`; further arguments are mocha's.
 * A tier is a folder, but for three: `unit` is every other file, `slow` what has `@slow` in its title there, because it takes
 * over a second, and `long` what has `@long` in its title, in any file, and is left to `npm run verify`. Where `unit` and
 * `slow` are both named, a file runs once. A mocha runs some files only: its start takes 1.7 s of CPU, and the more memory it
 * has, the longer it takes to start a process. Those of a folder go to different ones, or the mochas of the largest folders
 * would run last. The last lines are what failed, the tests that need a missing tool, the other tiers, and the totals.
 */
const top = fileURLToPath(new URL('../test/', import.meta.url));
const mocha = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'));
/** How many mochas run at the same time: one more than the cores, because a mocha also waits. */
const jobs = availableParallelism() + 1;
/** Where the tests' folders are: each commit syncs a dozen files, for which a disk takes most of the time. */
const memory = '/dev/shm';

const withoutLong = ['--grep', '@long', '--invert'];
const tiers: Readonly<Record<'unit' | 'slow' | 'process' | 'browser' | 'verify' | 'long', Tier>> = {
  unit: {
    files: 24,
    holds: 'units, Git, HTTP and the commands',
    options: ['--grep', '@slow|@long', '--invert'],
  },
  slow: {
    files: 40,
    holds: 'what of these takes over a second',
    options: ['--grep', '@slow'],
  },
  process: {
    files: 16,
    holds: 'kills, signals, several machines, clients, the package and the documents',
    options: withoutLong,
  },
  // One browser for all files.
  browser: { files: 1000, holds: 'pages in Chromium', options: withoutLong },
  verify: {
    files: 1,
    holds: 'power loss, simulation, failing calls, fuzzing, hostile requests and crashes, in short',
    options: withoutLong,
  },
  long: { files: 8, holds: 'rare cases that take seconds each', options: ['--grep', '@long'] },
};
type TierName = keyof typeof tiers;

/** Files that take longest, which no other has to wait for in the end: each in a mocha of its own, before the others. */
const longest = [
  'process/proposals/shared-proposals',
  'process/docs',
  'process/package',
  'verify/simulation/simulation',
  'verify/hostile-requests',
  'verify/power-loss/power-loss',
];

/** The tier whose files run one after the other begins, then those with long files follow. */
const order: readonly TierName[] = ['browser', 'process', 'slow', 'unit', 'verify', 'long'];

interface Tier {
  /** How many a mocha runs. */
  readonly files: number;
  readonly holds: string;
  /** Options of mocha, unless some of the tests are asked for by their titles. */
  readonly options?: readonly string[];
}

const args = process.argv.slice(2);
const named = args.filter((arg): arg is TierName => arg in tiers);
const chosen: readonly TierName[] = named.length > 0 ? named : ['unit'];
const options = args.filter((arg) => !(arg in tiers));
const unitHasSlow = chosen.includes('unit') && chosen.includes('slow');

const totals = new Map<string, number>([
  ['passing', 0],
  ['failing', 0],
]);
const notRun = new Set<string>();
/** What mocha says of tests that failed. It is printed again at the end, where one looks first. */
const failures: string[] = [];
const started = performance.now();
await runAll();

const seconds = Math.round((performance.now() - started) / 1000);
const others = (Object.keys(tiers) as TierName[]).filter((tier) => !chosen.includes(tier));
process.stdout.write(['', ...notRun, ''].join('\n'));
for (const failure of failures) process.stdout.write(`${failure.trimEnd()}\n\n`);
for (const tier of others)
  process.stdout.write(`  not in this run: npm run test:${tier} (${tiers[tier].holds})\n`);
for (const [what, many] of totals)
  process.stdout.write(`  ${many} ${what}${what === 'passing' ? ` (${seconds}s)` : ''}\n`);

/** Runs the tests of all chosen tiers. */
async function runAll(): Promise<void> {
  const names = readdirSync(top, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .toSorted();
  const chunks = order
    .filter((tier) => chosen.includes(tier) && !(tier === 'slow' && unitHasSlow))
    .flatMap((tier) => {
      const { files } = tiers[tier];
      const own = names.filter((name) => isIn(tier, name));
      const alone = longest.map((name) => `${name}.test.js`).filter((name) => own.includes(name));
      const others = own.filter((name) => !alone.includes(name));
      const mochas = Math.ceil(others.length / files);
      const groups = Array.from({ length: mochas }, (_, i) => others.filter((_, j) => j % mochas === i));
      return [...alone.map((name) => [name]), ...groups].map((group) => ({
        tier,
        paths: group.map((name) => `dist/test/${name}`),
      }));
    });
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) await runFiles(chunk);
    }),
  );
}

function isIn(tier: TierName, name: string): boolean {
  const [folder = ''] = name.split('/');
  if (tier === 'long' || (tier === 'slow' && !(folder in tiers)))
    return readFileSync(join(top, name), 'utf8').includes(`@${tier}`);
  return tier === (folder in tiers ? folder : 'unit');
}

/** Whether the machine has a folder in memory, with room, in which programs run. */
function hasMemory(): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.includes(` ${memory} `));
  return bavail * bsize > 2 ** 30 && !/\bnoexec\b/.test(mount ?? 'noexec');
}

/** Runs a mocha, and prints what it printed when it has ended. */
async function runFiles({ tier, paths }: { tier: TierName; paths: readonly string[] }): Promise<void> {
  const own = tier === 'unit' && unitHasSlow ? withoutLong : (tiers[tier].options ?? []);
  const select = options.some((option) => /^--?(?:g|f|grep|fgrep)\b/.test(option)) ? [] : own;
  const child = spawn(process.execPath, [mocha, ...select, ...options, ...paths], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...(hasMemory() && { TMPDIR: memory }), ...process.env },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await once(child, 'close');
  process.stdout.write(printed);
  for (const [line] of printed.matchAll(/^not run here: .*$/gm)) notRun.add(line);
  for (const [, many, what = ''] of printed.matchAll(/^ {2}(\d+) (passing|failing)\b/gm))
    totals.set(what, (totals.get(what) ?? 0) + Number(many));
  if (child.exitCode === 0) return;
  const [failure = `  status ${child.exitCode}, signal ${child.signalCode}: ${paths.join(' ')}`] =
    /^ {2}\d+ failing\n[^]*/m.exec(printed) ?? [];
  failures.push(failure);
  process.exitCode = 1;
}
