import { ok, strictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLog } from '../../src/lib/log.ts';
import { StateStore } from '../../src/counts/state-store.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { FileRef } from '../support/file-ref.ts';

describe('after a kill, every answered count is there', () => {
  afterEach('end the children', () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  for (const failpoint of [
    'journal.before-write',
    'journal.after-write',
    'journal.after-rotate',
    'checkpoint.before-commit',
    'checkpoint.after-commit',
    'checkpoint.after-remove',
  ]) {
    it(`at ${failpoint}`, async () => {
      const place = newPlace();
      const said = await lifeOf(place, (child) => once(child, 'exit'), failpoint);
      strictEqual(said.signal, 'SIGKILL');
      ok(said.answered.size === 20, `${said.answered.size} bots were answered`);
      await checkAnswers(place, [said]);
    });
  }

  it('at any moment, several times over', async () => {
    const place = newPlace();
    const lives: Life[] = [];
    for (let round = 0; round < 4; round++) {
      const lines = 30 + Math.floor(Math.random() * 200);
      lives.push(await lifeOf(place, async (child) => await killAfter(child, lines)));
      await checkAnswers(place, lives.slice(-1));
    }
  });
});

const children: ChildProcess[] = [];

interface Place {
  readonly folder: string;
  readonly refPath: string;
}

/** What a process said until it was killed: the last counts of each bot. */
interface Life {
  readonly asked: ReadonlyMap<string, number>;
  readonly answered: ReadonlyMap<string, number>;
  readonly signal: NodeJS.Signals | null;
}

function newPlace(): Place {
  const root = tempFolder();
  return { folder: join(root, 'var', 'journal'), refPath: join(root, 'ref') };
}

async function lifeOf(
  { folder, refPath }: Place,
  end: (child: ChildProcess) => Promise<unknown>,
  failpoint?: string,
): Promise<Life> {
  const script = fileURLToPath(new URL('count-crash-child.js', import.meta.url));
  const args = [script, folder, refPath, ...(failpoint === undefined ? [] : [failpoint])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const closed = once(child, 'close');
  await end(child);
  await closed;
  return { asked: lastOf(output, 'asked'), answered: lastOf(output, 'answered'), signal: child.signalCode };
}

async function killAfter(child: ChildProcess, lines: number): Promise<void> {
  await new Promise<void>((resolve) => {
    let seen = 0;
    child.stdout?.on('data', (text: string) => {
      seen += text.split('\n').length - 1;
      if (seen >= lines) resolve();
    });
  });
  child.kill('SIGKILL');
}

function lastOf(output: string, word: string): Map<string, number> {
  const last = new Map<string, number>();
  for (const line of output.split('\n').slice(0, -1)) {
    const [said, bot = '', count] = line.split(' ');
    if (said === word) last.set(bot, Number(count));
  }
  return last;
}

/** Each bot has the count answered last, or one asked for since. */
async function checkAnswers({ folder, refPath }: Place, lives: readonly Life[]): Promise<void> {
  const store = new StateStore({
    folder,
    ref: new FileRef(refPath),
    stateSeconds: 3600,
    log: silentLog,
  });
  await store.load();
  for (const { asked, answered } of lives) {
    for (const [bot, least] of answered) {
      const count = store.count(botId(`19051930497266${bot}`)) ?? 0;
      ok(
        count >= least && count <= (asked.get(bot) ?? 0),
        `bot ${bot} has ${count}, though ${least} was answered`,
      );
    }
  }
  await store.close();
}
