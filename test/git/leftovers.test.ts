import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  cleanUpAfterCrash,
  removeStaleLocks,
  findGitProcesses,
  parseCommand,
} from '../../src/git/leftovers.ts';
import { silentLog } from '../../src/lib/log.ts';
import { eventually } from '../support/eventually.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { openUntilEnd } from '../support/opened.ts';

describe('removing what a git has left', () => {
  const started: ChildProcessWithoutNullStreams[] = [];
  afterEach(() => {
    for (const git of started.splice(0)) git.kill('SIGKILL');
  });
  const start = ({ folder }: TestRepository, ...args: string[]): ChildProcessWithoutNullStreams => {
    const git = spawn('git', args, { cwd: folder });
    started.push(git);
    return git;
  };
  const run = async ({ folder }: TestRepository): Promise<number> =>
    await removeStaleLocks(await openUntilEnd(folder), silentLog);
  const pack = ({ folder }: TestRepository, name: string): string => join(folder, '.git/objects/pack', name);
  const leave = (repository: TestRepository, name: string, text = '', mode = 0o644): string => {
    writeFileSync(pack(repository, name), text, { mode });
    // Where gits of other containers may be hidden, only what is old counts as left.
    utimesSync(pack(repository, name), 0, 0);
    return pack(repository, name);
  };

  it('removes the report of an import, and the new files, that a killed service has left', async () => {
    const repository = await openUntilEnd(testRepository({ 'a.txt': 'A' }).folder);
    const report = join(repository.gitDir, 'fast_import_crash_7');
    writeFileSync(report, '');
    mkdirSync(repository.staging, { recursive: true });
    writeFileSync(join(repository.staging, 'file-7'), 'B');
    await cleanUpAfterCrash(repository, silentLog);
    deepStrictEqual([report, repository.staging].filter(existsSync), []);
  });

  it('leaves the lock of a branch while the git that holds it lives, and removes it when that is killed @slow', async () => {
    const repository = testRepository({ 'a.txt': 'A' });
    const lock = join(repository.folder, '.git/refs/heads/main.lock');
    const commit = repository.git('commit-tree', 'HEAD^{tree}', '-m', 'Next');
    const hold = async (): Promise<ChildProcessWithoutNullStreams> => {
      const git = start(repository, 'update-ref', '--stdin');
      git.stdin.write(`start\nupdate refs/heads/main ${commit}\nprepare\n`);
      await eventually(() => strictEqual(existsSync(lock), true));
      return git;
    };
    const first = await hold();
    strictEqual(await run(repository), 0);
    strictEqual(existsSync(lock), true);
    first.stdin.end('commit\n');
    deepStrictEqual(await once(first, 'exit'), [0, null]);
    strictEqual(repository.git('rev-parse', 'main'), commit);
    const second = await hold();
    second.kill('SIGKILL');
    await once(second, 'exit');
    notStrictEqual(await run(repository), 0);
    strictEqual(existsSync(lock), false);
  });

  it('removes the half-written packed refs of a killed git, which would keep every later one from deleting refs', async () => {
    const repository = testRepository({ 'a.txt': 'A' });
    repository.git('tag', 'a');
    repository.git('pack-refs', '--all');
    writeFileSync(join(repository.folder, '.git/packed-refs.new'), '');
    notStrictEqual(repository.tryGit('tag', '-d', 'a'), 0);
    strictEqual(await run(repository), 1);
    strictEqual(repository.tryGit('tag', '-d', 'a'), 0);
  });

  it('leaves the half-written packs while a git lives, and removes them when that is killed', async () => {
    const repository = testRepository({ 'a.txt': 'A' });
    const git = start(repository, 'fast-import', '--quiet');
    git.stdin.write('blob\ndata 1\na\nprogress written\n');
    await once(git.stdout, 'data');
    const names = (): string[] => readdirSync(pack(repository, ''));
    const [own = ''] = names().filter((name) => name.startsWith('tmp_pack_'));
    utimesSync(pack(repository, own), 0, 0);
    const repacked = leave(repository, '.tmp-1-pack-0a.idx');
    await run(repository);
    deepStrictEqual(
      [own, repacked].map((name) => names().includes(basename(name))),
      [true, true],
    );
    git.kill('SIGKILL');
    await once(git, 'exit');
    await run(repository);
    deepStrictEqual(names(), []);
  });

  it('removes the half-written objects and commit-graphs of a killed git', async () => {
    const repository = testRepository({ 'a.txt': 'A' });
    repository.git('commit-graph', 'write', '--reachable', '--split');
    const object = repository.git('rev-parse', 'HEAD').slice(0, 2);
    const left = ['info/commit-graphs/tmp_graph_0a', `${object}/tmp_obj_0a`].map((name) =>
      leave(repository, `../${name}`),
    );
    await run(repository);
    deepStrictEqual(left.filter(existsSync), []);
  });

  it('removes the mark of a pack that a power loss has emptied, so that the pack is merged again', async () => {
    const repository = testRepository({ 'a.txt': 'A' });
    repository.git('repack', '-q', '-d');
    const [name = ''] = readdirSync(pack(repository, '')).filter((each) => each.endsWith('.idx'));
    const keep = name.replace('.idx', '.keep');
    for (const text of ['', '\0'.repeat(11)]) {
      const mark = leave(repository, keep, text, 0o600);
      await run(repository);
      strictEqual(existsSync(mark), false);
    }
    const ofPerson = leave(repository, keep);
    await run(repository);
    strictEqual(existsSync(ofPerson), true);
  });
});

describe('finding git processes', () => {
  it('returns those whose working folder is in the repository, with their parent, and no others', async () => {
    const [here, elsewhere] = [testRepository(), testRepository()].map(({ folder }) => folder);
    const folders = {
      folder: here ?? '',
      gitDir: join(here ?? '', '.git'),
      commonDir: join(here ?? '', '.git'),
    };
    const started = [here, elsewhere].map((cwd) => spawn('git', ['cat-file', '--batch'], { cwd }));
    try {
      for (const git of started) {
        git.stdin.write('HEAD\n');
        await once(git.stdout, 'data');
      }
      const { seen } = await findGitProcesses(folders);
      deepStrictEqual(seen, [
        { pid: started[0]?.pid, parent: process.pid, args: ['git', 'cat-file', '--batch'] },
      ]);
    } finally {
      for (const git of started) git.kill();
    }
  });

  for (const [args, command] of [
    [['git', 'fetch', '-q'], 'fetch'],
    [['git', '-c', 'a.b=commit', '-C', '/gc', '--no-pager', 'repack'], 'repack'],
    [['/usr/lib/git-core/git-remote-https', 'origin'], 'remote-https'],
    [['git'], ''],
  ] as const) {
    it(`parses the command of "${args.join(' ')}" as "${command}"`, () => {
      strictEqual(parseCommand({ pid: 1, parent: 0, args }), command);
    });
  }
});
