import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';

/*
 * Runs all tests: some mochas at a time, each with some files. Most tests wait for processes that they start, so there
 * are twice as many mochas as cores. What a mocha prints is printed when it ends; the last lines are the totals of all.
 */
const top = fileURLToPath(new URL('../', import.meta.url));
const mocha = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'));
const files = readdirSync(`${top}test`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.js'))
  .toSorted();
// What takes long begins first and has a mocha of its own, so that no core is idle at the end.
const isLong = (name: string): boolean => /^(?:scenarios|commands|site\/account|state|sync)\//.test(name);
const chunks = [
  ...files.filter(isLong).map((name) => [name]),
  ...inFours(files.filter((name) => !isLong(name))),
];
const totals = new Map<string, number>([
  ['passing', 0],
  ['failing', 0],
  ['pending', 0],
]);
const started = performance.now();
// Unpacked once, as two that do it at the same time get in each other's way.
const browser = process.env['CHROMIUM_PATH'] ?? (await chromium.executablePath());

await Promise.all(Array.from({ length: availableParallelism() * 2 }, runChunks));

const minutes = ((performance.now() - started) / 60_000).toFixed(1);
process.stdout.write('\n');
for (const [what, many] of totals)
  if (many > 0 || what === 'passing')
    process.stdout.write(`  ${many} ${what}${what === 'passing' ? ` (${minutes}m)` : ''}\n`);

function inFours(names: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(names.length / 4) }, (_, i) => names.slice(i * 4, i * 4 + 4));
}

async function runChunks(): Promise<void> {
  for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) await runChunk(chunk);
}

async function runChunk(names: readonly string[]): Promise<void> {
  const paths = names.map((name) => `dist/test/${name}`);
  // A flag of node that mocha has to pass on costs a second process for each mocha.
  const args = ['--enable-source-maps', mocha, ...process.argv.slice(2), ...paths];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CHROMIUM_PATH: browser },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (printed += String(piece)));
  await once(child, 'close');
  process.stdout.write(printed);
  for (const [, many, what] of printed.matchAll(/^ {2}(\d+) (passing|failing|pending)\b.*$/gm))
    if (what !== undefined) totals.set(what, (totals.get(what) ?? 0) + Number(many));
  if (child.exitCode === 0) return;
  process.exitCode = 1;
  process.stdout.write(`\nmocha ended with ${child.exitCode ?? child.signalCode}: ${paths.join(' ')}\n`);
}
