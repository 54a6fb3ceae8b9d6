import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog } from '../../src/lib/log.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { findGitProcesses } from '../../src/git/leftovers.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import { cleanUp } from '../support/cleanup.ts';
import { committerOn } from '../support/committing.ts';
import { setKey } from '../support/keys.ts';
import { replaceGit } from '../support/replaced-git.ts';

const files = { 'bots/001/1.en.md': 'name: One\n', 'bots/002/2.en.md': 'name: Two\n' };
const child = fileURLToPath(new URL('commit-crash-child.js', import.meta.url));

const failpoints = [
  'index.locked',
  'advance.before-intent',
  'advance.before-branch',
  'advance.after-branch',
  'checkout.before-index',
  'advance.after-checkout',
];

describe('after a crash', () => {
  for (const name of failpoints) {
    it(`at ${name}, every answered change is there and everything is clean`, async () => {
      const repository = testRepository(files);
      const { answered, process } = start(repository.folder, name);
      await once(process, 'exit');
      strictEqual(process.signalCode, 'SIGKILL', 'it has died at the failpoint');
      ok(answered.length >= 2);
      await isWhole(repository, answered);
    });
  }

  it('with a file edited since, the edits stay and the file is named', async () => {
    const repository = testRepository(files);
    const { process } = start(repository.folder, 'advance.after-branch');
    await once(process, 'exit');
    repository.write('bots/001/1.en.md', 'name: First\n');
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
    const committer = committerOn(repository.folder, { log });
    await committer.recover();
    strictEqual(repository.read('bots/001/1.en.md'), 'name: First\n');
    strictEqual(repository.status(), 'M bots/001/1.en.md');
    const [outdated] = committer.outdatedPaths();
    deepStrictEqual(outdated, {
      path: 'bots/001/1.en.md',
      reason: 'has uncommitted edits: commit or discard them',
      failed: false,
    });
    ok(warnings.some((warning) => warning.includes('"bots/001/1.en.md" is behind the branch')));
    await eventually(() => repository.tryGit('checkout', '-q', '--', 'bots/001/1.en.md') === 0);
    await eventually(() => deepStrictEqual(committer.outdatedPaths(), []));
    strictEqual(repository.status(), '');
  });

  it('with a file torn by a power loss, the file is written again', async () => {
    const repository = testRepository(files);
    const { process } = start(repository.folder, 'checkout.before-index');
    await once(process, 'exit');
    repository.write('bots/001/1.en.md', '');
    await isWhole(repository, []);
  });

  it('of a git child, killed again and again, no change is lost and none needs to be sent again', async function () {
    const repository = testRepository(files);
    const gitDir = join(repository.folder, '.git');
    const place = { folder: repository.folder, gitDir, commonDir: gitDir };
    const committer = committerOfChildren(repository.folder);
    const stop = new AbortController();
    const commitAll = async (value: number | string): Promise<unknown> =>
      await Promise.all(
        Object.keys(files).map(async (path) => await committer.commit(setKey(path, `key${value}`, value))),
      );
    // On a busy machine every attempt would be killed: most commits have time for one.
    const began = performance.now();
    await commitAll('begun');
    const pauseMs = Math.max(100, 2 * (performance.now() - began));
    const killing = (async () => {
      while (!stop.signal.aborted) {
        for (const { pid } of (await findGitProcesses(place)).seen) killIfThere(pid);
        await sleep(pauseMs * (1 + Math.random() * 2));
      }
    })();
    const answered: number[] = [];
    try {
      for (let n = 0; n < 5; n++) {
        await commitAll(n);
        answered.push(n);
      }
    } finally {
      stop.abort();
      await killing;
    }
    await committer.close();
    await isWhole(repository, answered);
  });

  it('of a git that was writing a pack, the same pack is written again', async () => {
    const repository = testRepository(files);
    const committer = committerOfChildren(repository.folder);
    const restore = dieOnceBesideAPack(repository);
    await committer.commit(setKey('bots/001/1.en.md', 'key', 'value')).finally(restore);
    ok(repository.git('show', 'HEAD:bots/001/1.en.md').includes('key: value'));
    strictEqual(repository.status(), '');
    const left = readdirSync(join(repository.folder, '.git/objects/pack'));
    ok(!left.some((name) => name.endsWith('.keep')), left.join());
  });

  it('of a git that held the lock of a branch, the lock is cleared when the next change comes', async () => {
    const repository = testRepository(files);
    const committer = committerOn(repository.folder);
    writeFileSync(join(repository.folder, '.git/refs/heads/main.lock'), '');
    await committer.commit(setKey('bots/001/1.en.md', 'key', 'value'));
    strictEqual(repository.status(), '');
  });
});

function start(folder: string, failpoint: string): { answered: number[]; process: ChildProcess } {
  const process = spawn('node', [child, folder, failpoint], { stdio: ['ignore', 'pipe', 'inherit'] });
  const answered: number[] = [];
  process.stdout.on('data', (chunk) => answered.push(...String(chunk).trim().split('\n').map(Number)));
  return { answered, process };
}

/**
 * Has the first fast-import be killed as it has marked its pack and not indexed it. Returns a function that undoes it.
 */
function dieOnceBesideAPack({ folder }: TestRepository): () => void {
  const bin = tempFolder();
  const script = `[ -e '${bin}/died' ] && exec git "$@"
: > '${bin}/died'
cp -r '${folder}/.git' '${bin}/copy' && cat > '${bin}/input'
GIT_DIR='${bin}/copy' git "$@" < '${bin}/input' > /dev/null
for index in '${bin}'/copy/objects/pack/*.idx; do
  name=$(basename "$index" .idx)
  printf fast-import > '${folder}/.git/objects/pack/'"$name.keep"
done
kill -9 $$`;
  const takeBack = replaceGit('fast-import', script);
  return () => {
    takeBack();
    ok(existsSync(join(bin, 'died')), 'git was killed');
  };
}

async function isWhole(repository: TestRepository, answered: readonly number[]): Promise<void> {
  const committer = committerOn(repository.folder);
  await committer.recover();
  for (const path of Object.keys(files)) {
    const lines = new Set(repository.git('show', `HEAD:${path}`).split('\n'));
    deepStrictEqual(
      answered.filter((n) => !lines.has(`key${n}: ${n}`)),
      [],
      `lost from ${path}`,
    );
  }
  const [one = '', two = ''] = Object.keys(files).map((path) => repository.git('show', `HEAD:${path}`));
  strictEqual(one.replace('One', 'Two'), two, 'no batch is half there');
  strictEqual(repository.status(), '');
  strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
  const left = readdirSync(join(repository.folder, '.git'), { recursive: true, encoding: 'utf8' });
  strictEqual(left.filter((name) => /\.(lock|keep)$|tmp_/.test(name)).join(), '');
  await committer.close();
}

/** A committer whose gits are children of this process, with its environment. */
function committerOfChildren(folder: string): ReturnType<typeof committerOn> {
  const repositoryOpener = new RepositoryOpener(folder);
  cleanUp(() => repositoryOpener.close());
  return committerOn(folder, { repositoryOpener });
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}
