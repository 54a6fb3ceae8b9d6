import { deepStrictEqual, ok } from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StateStore } from '../../src/counts/state-store.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { FileRef } from '../support/file-ref.ts';
import { recordedLog } from '../support/recorded-log.ts';

describe('a full disk', () => {
  let child: ChildProcess | undefined;

  afterEach('end the child', () => child?.kill('SIGKILL'));

  it('responds to no post, responds to reads, and writes again when there is room', async () => {
    const root = tempFolder();
    const [folder, refPath] = [join(root, 'journal'), join(root, 'ref')];
    child = spawn('sh', ['-c', 'ulimit -S -f 3000; exec "$@"', 'sh', ...childOf(folder, refPath)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const full = (await answerOf(child)) as Full;
    ok(full.answered > 10, `${full.answered} counts were answered`);
    const message = `files may not grow any more in ${folder}: raise the file size limit (ulimit -f)`;
    deepStrictEqual(full, {
      answered: full.answered,
      refusal: message,
      together: ['rejected', 'rejected', 'rejected'],
      read: full.answered,
      faults: [message],
    });

    execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:']);
    child.send('the limit is gone');
    deepStrictEqual(await answerOf(child), { faults: 0 });
    child.kill('SIGKILL');
    await once(child, 'close');

    const log = recordedLog();
    const store = new StateStore({ folder, ref: new FileRef(refPath), stateSeconds: 3600, log });
    await store.load();
    deepStrictEqual(
      ['190519304972663312', '14', '11', '12', '13'].map((id) => store.count(botId(id))),
      [full.answered, 4, undefined, undefined, undefined],
    );
    deepStrictEqual(log.lines, []);
    await store.close();
  });
});

interface Full {
  readonly answered: number;
  readonly refusal: string;
  readonly together: readonly string[];
  readonly read: number;
  readonly faults: readonly string[];
}

function childOf(folder: string, refPath: string): string[] {
  return [process.execPath, fileURLToPath(new URL('disk-full-child.js', import.meta.url)), folder, refPath];
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const [answer] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('the process ended before it answered');
    }),
  ])) as unknown[];
  return answer;
}
