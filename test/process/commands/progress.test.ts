import { doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createProgress } from '../../../src/commands/output.ts';
import { botshelf, mainFile } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { quote } from '../../support/run-sync.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function written(columns = 80): Promise<string> {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns });
  const progress = createProgress(stream);
  for (let i = 1; i <= 1000; i += 1) progress.show(`${i} files\u001b checked`);
  progress.end();
  stream.end();
  return await text(stream);
}

describe('the progress line', () => {
  it('is rewritten on a terminal, now and then, and gone in the end', async () => {
    const row = await written();
    match(row.replaceAll('\u001b[K', '|'), /^1 files\\u001b checked\|\r(?:\d+ files\\u001b checked\|\r)*\|$/);
    strictEqual(row.includes('\n'), false);
  });

  it('is cut to the width of the terminal, where the next one would not overwrite all of it', async () => {
    match((await written(8)).replaceAll('\u001b[K', '|'), /^1 files\|\r/);
  });
});

/** What a terminal has to show, and what to do then. */
type Step = readonly [shown: RegExp, act?: () => void];

/**
 * Runs a command of the shell in a pseudo terminal, and ends it with Ctrl+C after its steps, if it has any. Returns what
 * it shows: `|` clears the rest of a line, `^` begins a colour.
 */
async function inTerminal(command: string, env: Record<string, string>, ...steps: Step[]): Promise<string> {
  // Each of these, `CI` too, says how many colours a terminal has.
  const colours = { CI: undefined, NO_COLOR: undefined, FORCE_COLOR: undefined, TERM: 'xterm' };
  const terminal = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { ...process.env, ...colours, ...env },
    stdio: 'pipe',
  });
  let shown = '';
  terminal.stdout.on('data', (piece) => (shown += String(piece)));
  const closed = once(terminal, 'close');
  try {
    for (const [pattern, act] of steps) {
      await eventually(() => match(shown, pattern));
      act?.();
    }
  } finally {
    if (steps.length > 0) terminal.stdin.write('\u0003');
    await closed;
  }
  return shown.replaceAll('\u001b[K', '|').replaceAll('\u001b', '^');
}

const pages = { [pagePath('1')]: mainPage(), [pagePath('2')]: mainPage({ category: 'books' }) };
const { folder: root } = testRepository(pages);
const program = `${quote(process.execPath)} ${quote(mainFile)}`;

describe('in a terminal', () => {
  const other = tempFolder();
  const list = join(other, 'bots.ndjson');
  const copy = join(other, 'backup');
  const restored = join(other, 'restored');
  const elsewhere = { BOTSHELF_CATALOGUE: restored, BOTSHELF_VAR: join(restored, 'var') };

  for (const [command, shown, env] of [
    ['check', /^\d files? checked \(\d+ %\)\|\r/],
    ['format', /^\d files? read \(\d+ %\)\|\r/],
    [`export > ${quote(list)}`, /(?:^|\|)0 of 2 bots exported\|\r/],
    [`import ${quote(list)}`, /^1 record read, 0 added\|\r/],
    [
      `backup ${quote(copy)}`,
      /^[\w: ]+ objects: +\d+% [^\r]*\|\r[^]*\|Checking object[\w :]+\d+% [^\r]*\|\r/,
    ],
    [`restore ${quote(copy)}`, /^[\w: ]+ objects: +\d+% [^\r]*\|\r/, elsewhere],
  ] as const)
    it(`botshelf ${command.split(' ', 1)[0]} shows how far it is`, async () => {
      match(await inTerminal(`${program} ${command}`, { BOTSHELF_CATALOGUE: root, ...env }), shown);
    });

  it('an export to a file has nothing of it', () => {
    match(readFileSync(list, 'utf8'), /^\{"id":"1"[^\r]*\}\n$/);
  });

  it('an export to the terminal shows the bots alone', async () => {
    const shown = await inTerminal(`${program} export`, { BOTSHELF_CATALOGUE: root });
    match(shown, /^(?:reading [^\r]*\|\r\|)?\{"id":"1"/);
    doesNotMatch(shown, /exported/);
  });

  it('a mirror shows how far its clone is, and without colours if NO_COLOR is set', async () => {
    const command = `${program} mirror ${quote(`file://${root}`)} --folder ${quote(join(other, 'mirror'))} --port 0`;
    const shown = await inTerminal(command, { NO_COLOR: '1' }, [/ serves 2 bots/]);
    match(shown, /\r\n[\w: ]+: +\d+% \(\d+\/\d+\)[^\r]*\|\r/);
    match(shown, /\bINFO\b/);
    doesNotMatch(shown, /\^\[/);
  });

  for (const [command, coloured] of [
    ['check', /\^\[31menum\^\[39m category/],
    ['doctor', /\^\[3[13]m(?:error|warning) +\^\[39m/],
    ['check nowhere', /\^\[31m"nowhere" does not exist/],
    [`import ${quote(join(other, 'faulty.ndjson'))}`, /\^\[31mfaulty\.ndjson:1 /],
  ] as const)
    it(`botshelf ${command.split("'", 1)[0]} shows faults in colour`, async () => {
      writeFileSync(join(other, 'faulty.ndjson'), '{}\n');
      match(await inTerminal(`${program} ${command}`, { BOTSHELF_CATALOGUE: root }), coloured);
    });

  it('nothing has a colour if NO_COLOR is set', async () => {
    const shown = await inTerminal(`${program} check`, { BOTSHELF_CATALOGUE: root, NO_COLOR: '1' });
    match(shown, /8:15 enum category/);
    doesNotMatch(shown, /\^\[/);
  });
});

describe('in a pipe', () => {
  const copy = join(tempFolder(), 'backup');

  for (const args of [['check'], ['format'], ['export'], ['backup', copy], ['doctor'], ['check', 'nowhere']])
    it(`botshelf ${args.join(' ').split('/', 1)[0]} has no progress and no colours`, async () => {
      const { stdout, stderr } = await botshelf(root, args);
      // oxlint-disable-next-line no-control-regex -- that is what must not be there
      doesNotMatch(stdout + stderr, /[\u001b\r]|\d %/);
      if (args[0] === 'backup') strictEqual(stderr, '');
    });
});

describe('botshelf serve', () => {
  it('shows on a terminal how far the start is, until it is ready @long', async () => {
    const pipe = join(tempFolder(), 'index.snapshot');
    execFileSync('mkfifo', [pipe]);
    const env = { BOTSHELF_CATALOGUE: root, BOTSHELF_VAR: dirname(pipe), PORT: '0' };
    const goOn = (): void => writeFileSync(pipe, '');
    const reading = /reading the catalogue: 0 bots so far/;
    const shown = await inTerminal(`exec ${program} serve`, env, [reading, goOn], [/ serves 2 bots/]);
    match(shown, / so far\|\r\|[^\r]*INFO[^\r]* serves 2 bots/);
  });
});
