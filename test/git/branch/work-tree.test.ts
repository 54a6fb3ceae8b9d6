import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { BotshelfError } from '../../../src/lib/errors.ts';
import type { FileChange } from '../../../src/git/trees.ts';
import type { Repository } from '../../../src/git/repository.ts';
import { IntentLog, WorkTree } from '../../../src/git/branch/work-tree.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { openUntilEnd } from '../../support/opened.ts';
import { testRepository, type TestRepository } from '../../support/repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { needs } from '../../support/tools.ts';

const branch = 'refs/heads/main';

/** Folders on different file systems on most machines. */
const others = ['/dev/shm', '/var/tmp'];

describe('the work tree', () => {
  let clone: TestRepository;
  let repository: Repository;
  let workTree: WorkTree;
  beforeEach(async () => {
    clone = testRepository({ a: 'a\n', b: 'b\n' });
    repository = await openUntilEnd(clone.folder);
    workTree = await open();
  });

  it('shows nothing of an update whose branch did not move, and leaves no new file staged', async () => {
    const update = await workTree.prepare(await planCommit({ a: 'new\n', b: 'new\n' }));
    clone.git('update-ref', branch, 'HEAD~');
    await workTree.abandon(update, new Error('git failed'));
    isClean('a\n');
    deepStrictEqual(stagedFiles(), []);
  });

  it('leaves no new file staged where a person has edited or moved what it would replace', async () => {
    const update = await workTree.prepare(await planCommit({ a: 'new\n', b: 'new\n' }));
    clone.write('a', 'by a person\n');
    rmSync(join(clone.folder, 'b'));
    clone.write('b/c', 'by a person\n');
    await workTree.apply(update);
    strictEqual(workTree.outdated().length, 2);
    deepStrictEqual(stagedFiles(), []);
  });

  needs('a second file system', it)(
    'leaves no new file staged where that folder is on another one than the files',
    async () => {
      const plan = await planCommit({ a: 'new\n' });
      const { dev } = statSync(clone.folder);
      const other = others.find((folder) => statSync(folder).dev !== dev) ?? '';
      const elsewhere = mkdtempSync(join(other, 'botshelf-'));
      rmSync(repository.staging, { recursive: true });
      symlinkSync(elsewhere, repository.staging);
      try {
        await workTree.apply(await workTree.prepare(plan));
        deepStrictEqual([clone.read('a'), stagedFiles()], ['new\n', []]);
      } finally {
        rmSync(elsewhere, { recursive: true });
      }
    },
  );

  it('finishes an update whose branch may have moved', async () => {
    const update = await workTree.prepare(await planCommit({ a: 'new\n' }));
    await workTree.abandon(update, new BotshelfError('unknown-outcome', 'git failed'));
    deepStrictEqual(workTree.outdated(), [{ path: 'a', reason: 'may be committed', failed: true }]);
    await workTree.finish();
    isClean('new\n');
  });

  it('keeps what a person edits after the inspection, until it is as it was', async () => {
    const update = await workTree.prepare(await planCommit({ a: 'new\n', b: 'new\n' }));
    clone.write('a', 'by a person\n');
    await workTree.apply(update);
    deepStrictEqual([clone.read('a'), clone.read('b')], ['by a person\n', 'new\n']);
    match(workTree.outdated()[0]?.reason ?? '', /^has uncommitted edits/);
    clone.write('a', 'a\n');
    await workTree.finish();
    strictEqual(clone.read('a'), 'new\n');
    deepStrictEqual(workTree.outdated(), []);
  });

  it('has a later update replace what an earlier one could not write', async () => {
    const plan = await planCommit({ a: 'second\n' });
    rmSync(repository.staging, { recursive: true });
    clone.write('.git/botshelf/staging', 'a file in the way');
    await workTree.apply(await workTree.prepare(plan));
    strictEqual(workTree.outdated().length, 1);
    rmSync(repository.staging);
    mkdirSync(repository.staging);
    await workTree.apply(await workTree.prepare(await planCommit({ a: 'third\n' })));
    isClean('third\n');
  });

  it('forgets what it could not write once the branch does not have it: a path of Git, below a link, of a folder', async () => {
    symlinkSync('elsewhere', join(clone.folder, 'linked'));
    clone.write('folder/file', 'by a person\n');
    const paths = ['.GIT/x', 'linked/x', 'folder'];
    const after = { mode: '100644', id: clone.git('rev-parse', 'HEAD:a') };
    const changes = paths.map((path) => ({ path, before: null, after }));
    const seen = await workTree.inspect(paths, false);
    await workTree.apply(await workTree.prepare({ branch, changes, seen }));
    await workTree.finish();
    deepStrictEqual(workTree.outdated(), []);
    deepStrictEqual(clone.git('diff', '--cached', '--name-only', 'HEAD'), '');
  });

  it('finishes what a crash interrupted, from the intents, of which the last may be torn', async () => {
    await workTree.prepare(await planCommit({ a: 'new\n' }));
    const intents = join(clone.folder, '.git/botshelf/intents');
    appendFileSync(intents, '[{"path":"torn');
    workTree = await open();
    isClean('new\n');
    await workTree.prepare(await planCommit({ b: 'new\n' }));
    workTree = await open();
    strictEqual(clone.read('b'), 'new\n');
    isClean('new\n');
  });

  it('removes a file and makes another one executable when a crash interrupted that', async () => {
    chmodSync(join(clone.folder, 'a'), 0o755);
    clone.git('rm', '-q', 'b');
    const next = clone.commit({});
    clone.git('reset', '-q', '--hard', 'HEAD~');
    const seen = await workTree.inspect(['a', 'b'], true);
    clone.git('update-ref', branch, next);
    const file = (path: string) => ({ mode: '100644', id: clone.git('rev-parse', `HEAD~:${path}`) });
    const changes = [
      { path: 'a', before: file('a'), after: { ...file('a'), mode: '100755' } },
      { path: 'b', before: file('b'), after: null },
    ];
    await workTree.prepare({ branch, changes, seen });
    workTree = await open();
    isClean('a\n');
    strictEqual(statSync(join(clone.folder, 'a')).mode & 0o111, 0o111);
    strictEqual(existsSync(join(clone.folder, 'b')), false);
  });

  it('keeps, when the intents are dropped, those that came since and those still to do', async () => {
    const update = await workTree.prepare(await planCommit({ a: 'new\n' }));
    clone.write('a', 'by a person\n');
    await workTree.apply(update);
    const updates: Awaited<ReturnType<WorkTree['prepare']>>[] = [];
    let calls = 0;
    await workTree.tidy(async (work) => {
      // What came before the first call may be synced, and is dropped.
      if (++calls === 2) updates.push(await workTree.prepare(await planCommit({ b: 'new\n' })));
      return await work();
    });
    for (const path of ['a', 'b']) match(clone.read('.git/botshelf/intents'), new RegExp(`"path":"${path}"`));
    for (const next of updates) await workTree.apply(next);
    clone.write('a', 'a\n');
    await workTree.finish();
    isClean('new\n');
    strictEqual(clone.read('b'), 'new\n');
  });

  it('drops the intents once all is durable, and says when something is left', async () => {
    const exclusively = async <T>(work: () => Promise<T>): Promise<T> => await work();
    const update = await workTree.prepare(await planCommit({ a: 'new\n' }));
    clone.write('a', 'by a person\n');
    await workTree.apply(update);
    strictEqual(await workTree.tidy(exclusively), false);
    match(clone.read('.git/botshelf/intents'), /"path":"a"/);
    clone.write('a', 'a\n');
    strictEqual(await workTree.tidy(exclusively), true);
    strictEqual(clone.read('.git/botshelf/intents'), '');
    strictEqual(existsSync(join(clone.folder, '.git/index.lock')), false);
  });

  it('takes the intents of 200,000 files, as an import of another list may have @long', async () => {
    const after = { mode: '100644', id: 'a'.repeat(40) };
    const log = new IntentLog({ folder: tempFolder(), gitDir: tempFolder() });
    await log.read();
    await log.append(Array.from({ length: 200_000 }, (_, i) => ({ path: String(i), before: null, after })));
    strictEqual(log.changes().length, 200_000);
  });

  function isClean(a: string): void {
    deepStrictEqual([clone.read('a'), clone.status(), workTree.outdated()], [a, '', []]);
  }

  function stagedFiles(): string[] {
    return readdirSync(repository.staging).filter((name) => name.startsWith('file-'));
  }

  async function open(): Promise<WorkTree> {
    return await WorkTree.open(repository, { log: silentLog, isExcluded: () => false, maxLockWaitMs: 100 });
  }

  /** Moves the branch to a commit with these files, after an inspection, and returns the plan of the update. */
  async function planCommit(
    files: Readonly<Record<string, string>>,
  ): Promise<Parameters<WorkTree['prepare']>[0]> {
    const seen = await workTree.inspect(Object.keys(files), true);
    const changes: FileChange[] = [];
    const contents = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
    const index = join(repository.staging, 'index-of-test');
    mkdirSync(repository.staging, { recursive: true });
    await repository.run(['read-tree', 'HEAD'], { indexFile: index });
    for (const [path, content] of contents) {
      const id = (await repository.run(['hash-object', '-w', '--stdin'], { input: content })).trim();
      const before = { mode: '100644', id: clone.git('rev-parse', `HEAD:${path}`) };
      const after = { mode: '100644', id };
      await repository.run(['update-index', '--cacheinfo', `100644,${id},${path}`], { indexFile: index });
      changes.push({ path, before, after });
    }
    const tree = (await repository.run(['write-tree'], { indexFile: index })).trim();
    clone.git('update-ref', branch, clone.git('commit-tree', tree, '-p', 'HEAD', '-m', 'Next'));
    return { branch, changes, contents, seen };
  }
});
