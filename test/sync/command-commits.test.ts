import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FilesCommit } from '../../src/git/commit-files.ts';
import { takeInstanceLock } from '../../src/git/branch/instance-lock.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import { silentLog as log } from '../../src/lib/log.ts';
import { commitForCommand } from '../../src/sync/command-commits.ts';
import type { DroppedEdit } from '../../src/sync/merge-files.ts';
import { cleanUp } from '../support/cleanup.ts';
import { openerOf } from '../support/opened.ts';
import { replaceGit } from '../support/replaced-git.ts';
import { repositoryIn, testRepository, type TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { tempFolder } from '../support/temp-folder.ts';

const [path, other] = [pagePath('7'), pagePath('8')];
const page = mainPage({ website: null });
const asMusic = page.replace('"fun"', '"music"');
const post = 'Update Seven (7): x\n\nBot: 7';

const message = 'Change bots\n\nBot: 7\nBot: 8\nChanged-by: ada';

type Plan = Readonly<Record<string, string | null>>;

/** Commits files as a command does; `beforeCommit` runs after the plan. */
async function commit(
  { folder }: TestRepository,
  files: Plan,
  beforeCommit: () => unknown = () => {},
  repositoryOpener = openerOf(folder),
): Promise<readonly DroppedEdit[]> {
  const clone = { repositoryOpener, var: join(folder, 'var'), log };
  return await commitForCommand(clone, async (): Promise<FilesCommit> => {
    await beforeCommit();
    const entries = Object.entries(files).map(([name, text]) => {
      return [name, text === null ? null : { mode: '100644', content: Buffer.from(text) }] as const;
    });
    return { files: new Map(entries), message: `${message}\n` };
  });
}

describe('the commit of a command', () => {
  let repository: TestRepository;
  beforeEach(() => (repository = testRepository({ [path]: page, [other]: page })));

  const head = (name: string): string => `${repository.git('show', `HEAD:${name}`)}\n`;

  it('leaves a file that keeps bots/ in Git where two remove the last bots', async () => {
    const removeOther = async (): Promise<unknown> => await commit(repository, { [other]: null });
    await commit(repository, { [path]: null }, removeOther);
    strictEqual(repository.git('ls-files'), '.gitignore\nbots/.gitkeep');
    strictEqual(repository.status(), '');
  });

  it('is in the branch, the index and the work tree, and leaves no lock', async () => {
    deepStrictEqual(await commit(repository, { [path]: asMusic, [other]: null, 'bots/9': 'new' }), []);
    strictEqual(repository.git('ls-files'), `.gitignore\n${path}\nbots/9`);
    strictEqual(repository.read(path), asMusic);
    strictEqual(repository.status(), '');
    strictEqual(repository.git('log', '-1', '--format=%B'), message);
    strictEqual(existsSync(join(repository.folder, '.git/botshelf.lock')), false);
  });

  it('is none where nothing changes, and may be the first one', async () => {
    await commit(repository, {});
    await commit(repository, { [path]: page });
    strictEqual(repository.git('rev-list', '--count', 'HEAD'), '1');
    const fresh = repositoryIn(tempFolder());
    fresh.git('init', '-q', '-b', 'main');
    await commit(fresh, { [path]: page });
    deepStrictEqual([fresh.read(path), fresh.status()], [page, '']);
  });

  it('is merged by key with a branch that has moved since the plan, with its message', async () => {
    const posted = page.replace('"website": null', '"website": "https://a.example"');
    const dropped = await commit(repository, { [path]: asMusic }, () =>
      repository.commit({ [path]: posted }, post),
    );
    deepStrictEqual(dropped, []);
    strictEqual(head(path), posted.replace('"fun"', '"music"'));
    deepStrictEqual(repository.git('log', '-2', '--format=%s').split('\n'), [
      'Change bots',
      'Update Seven (7): x',
    ]);
    deepStrictEqual([repository.read(path), repository.status()], [head(path), '']);
  });

  it('wins over a post, and removes what was posted to', async () => {
    const posted = page.replace('"fun"', '"games"');
    const move = (): unknown => repository.commit({ [path]: posted, [other]: posted }, `${post}\nBot: 8`);
    const dropped = await commit(repository, { [path]: asMusic, [other]: null }, move);
    ok(dropped.every(({ of }) => of !== 'ours'));
    deepStrictEqual([head(path), repository.tryGit('cat-file', '-e', `HEAD:${other}`)], [asMusic, 128]);
    strictEqual(repository.status(), '');
  });

  it('gives way to what a person has changed meanwhile, and says so', async () => {
    const edited = page.replace('"fun"', '"games"');
    const dropped = await commit(repository, { [path]: asMusic }, () =>
      repository.commit({ [path]: edited }),
    );
    deepStrictEqual(
      dropped.map(({ path, what, of }) => [path, what, of]),
      [[path, 'category', 'ours']],
    );
    strictEqual(head(path), edited);
  });

  for (const [name, edit] of Object.entries({
    edited: () => repository.write(path, 'edited'),
    staged: () => {
      repository.write(path, 'staged');
      repository.git('add', path);
      repository.write(path, page);
    },
    'in the way': () => {
      repository.git('rm', '-q', '--cached', path);
      repository.git('commit', '-qm', 'Keep the file only');
    },
  }))
    it(`is refused as a whole where a file of it is ${name}`, async () => {
      edit();
      const [tip, status] = [repository.git('rev-parse', 'HEAD'), repository.status()];
      await rejects(commit(repository, { [other]: asMusic, [path]: asMusic }), {
        name: 'UserError',
        message: `${path} has uncommitted edits: commit or discard them\nThis change was not made.`,
      });
      deepStrictEqual([repository.git('rev-parse', 'HEAD'), repository.status()], [tip, status]);
      await commit(repository, { [other]: asMusic });
      strictEqual(repository.status(), status);
    });

  it('is refused during a merge of a person, and on no branch', async () => {
    writeFileSync(join(repository.folder, '.git/MERGE_HEAD'), '');
    await rejects(
      commit(repository, { [path]: asMusic }),
      /in progress.*: finish it.*\nThis change was not made\.$/s,
    );
    rmSync(join(repository.folder, '.git/MERGE_HEAD'));
    repository.git('checkout', '-q', '--detach');
    await rejects(commit(repository, { [path]: asMusic }), /HEAD is on no branch/);
  });

  it('is refused, with what to look at, where Git cannot write', async () => {
    const takeBack = replaceGit('fast-import', 'echo "fatal: Read-only file system" >&2; exit 128');
    // The git that the tests share has been started with another PATH.
    const opener = new RepositoryOpener(repository.folder);
    cleanUp(() => opener.close());
    await rejects(commit(repository, { [path]: asMusic }, undefined, opener), {
      name: 'UserError',
      message: `git could not write (fatal: Read-only file system): look at the disk and the repository\nThis change was not made.`,
    }).finally(takeBack);
  });

  it('waits for other commands, and all of them are made', async () => {
    const paths = Array.from({ length: 5 }, (_, i) => pagePath(String(20 + i)));
    await Promise.all(paths.map(async (name) => await commit(repository, { [name]: page })));
    for (const name of paths) strictEqual(head(name), page);
    strictEqual(repository.status(), '');
  });
});

describe('the commit of a command beside a service', () => {
  it('is made by the service, which refuses it as the command would', async () => {
    const repository = testRepository({ [path]: page, [other]: page });
    const service = await startTestService({}, { root: repository.folder });
    const category = async (): Promise<unknown> => (await service.request('/api/v2/bots/7')).json.category;
    await commit(repository, { [path]: asMusic }, () => repository.commit({ 'notes.md': 'a' }));
    strictEqual(await category(), 'music');
    strictEqual(repository.status(), '');
    repository.write(path, page);
    await rejects(commit(repository, { [path]: page, [other]: asMusic }), {
      message: `${path} has uncommitted edits: commit or discard them\nThis change was not made.`,
    });
    repository.git('checkout', '-q', path);
  });

  it('is refused by a read-only copy', async () => {
    const origin = testRepository({ [path]: page });
    const folder = tempFolder();
    origin.git('clone', '-q', origin.folder, folder);
    const env = { BOTSHELF_READ_ONLY: 'on', BOTSHELF_REMOTE: 'origin' };
    await startTestService({}, { root: folder, env });
    await rejects(
      commit(repositoryIn(folder), { [path]: asMusic }),
      /^UserError: a read-only copy .*\nThis change was not made\.$/,
    );
  });

  it('may have been made where no response comes', async () => {
    const repository = testRepository({ [path]: page });
    const child = await holdLock(repository, 'async () => process.exit()');
    const ended = once(child, 'exit');
    await rejects(
      commit(repository, { [path]: asMusic }),
      /^UserError: the botshelf that runs on .* \(process \d+ on .*\) ended, or sent no response in time\nIt may have been made: "git log --since=\S+Z --stat" shows it then\. To run it again does no harm\.$/,
    );
    await ended;
    strictEqual(repository.git('rev-list', '--count', 'HEAD'), '1');
  });

  it('waits for a service that starts or stops', async () => {
    const repository = testRepository({ [path]: page });
    const lock = await takeInstanceLock(join(repository.folder, '.git'));
    const committed = commit(repository, { [path]: asMusic });
    await sleep(300);
    strictEqual(repository.git('rev-list', '--count', 'HEAD'), '1');
    await lock.release();
    await committed;
    strictEqual(repository.read(path), asMusic);
  });

  it('is not made by a service of an earlier version, which sends its name only @long', async function () {
    this.timeout(90_000);
    const repository = testRepository({ [path]: page });
    await holdLock(repository, undefined);
    await rejects(
      commit(repository, { [path]: asMusic }),
      /took no change for 30 s: try again, and restart it if it is of an earlier version\nThis change was not made\.$/,
    );
  });
});

/**
 * Starts a process that has the lock of a clone.
 * @param respond what it does with a request; undefined for an earlier version, which ends each connection
 */
async function holdLock({ folder }: TestRepository, respond: string | undefined): Promise<ChildProcess> {
  const module = new URL('../../src/git/branch/instance-lock.js', import.meta.url).href;
  const git = JSON.stringify(join(folder, '.git'));
  const script =
    respond === undefined
      ? `(await import('node:fs')).mkdirSync(${git} + '/botshelf.lock');
         (await import('node:net')).createServer((socket) => socket.end('process 1 on a')).listen(${git} + '/botshelf.lock/0', () => console.log('taken'))`
      : `await (await import(${JSON.stringify(module)})).takeInstanceLock(${git}, { respond: ${respond} }); console.log('taken'); process.stdin.resume()`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  cleanUp(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}
