import { deepStrictEqual, notStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { importCommit, type NewFile, writeCommit } from '../../src/git/commit-files.ts';
import { GitError } from '../../src/git/run-git.ts';
import { openRepository, type Repository } from '../../src/git/repository.ts';
import { GitRunner } from '../../src/git/git-runner.ts';
import { eventually } from '../support/eventually.ts';
import { goOnAlone, replaceGit } from '../support/replaced-git.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { openUntilEnd } from '../support/opened.ts';

describe('a commit by fast-import', () => {
  let clone: TestRepository;
  let repository: Repository;
  let tip: string;
  beforeEach(async () => {
    clone = testRepository({ a: 'a', 'folder/b': 'b', 'x/y': 'y' });
    tip = clone.git('rev-parse', 'HEAD');
    repository = await openUntilEnd(clone.folder);
  });

  it('has new bytes, existing blobs and removals at paths that need quotes, and keeps all other files', async () => {
    const id = clone.git('rev-parse', 'HEAD:a');
    const odd = ['a "quoted\\', 'with\nnewline', 'ä'];
    const commit = await importFiles([
      ...odd.map((path): [string, NewFile] => [
        path,
        { mode: '100644', content: Buffer.from('\0\r\ndone\n') },
      ]),
      ['copy', { mode: '100755', id }],
      ['folder/b', null],
    ]);
    strictEqual(clone.git('rev-parse', 'main'), commit);
    deepStrictEqual(
      new Set(clone.git('ls-tree', '-r', '-z', '--name-only', commit).split('\0').filter(Boolean)),
      new Set(['.gitignore', 'a', ...odd, 'copy', 'x/y']),
    );
    strictEqual(clone.git('ls-tree', commit, 'copy'), `100755 blob ${id}\tcopy`);
    strictEqual(clone.git('cat-file', '-s', `${commit}:ä`), '8');
  });

  it('puts a file where a folder was, and a folder where a file was, whatever the order of its files', async () => {
    const [text, gone] = [{ mode: '100644', content: Buffer.from('text') } as const, null];
    for (const [added, removed] of [
      ['x', 'x/y'],
      ['a/b', 'a'],
    ] as const)
      for (const order of [1, -1]) {
        const files: [string, NewFile][] = [
          [added, text],
          [removed, gone],
        ];
        const commit = await importFiles(order === 1 ? files : files.toReversed());
        strictEqual(clone.git('show', `${commit}:${added}`), 'text');
        clone.git('update-ref', 'refs/heads/main', tip);
      }
  });

  it('takes a commit for made, and not for a conflict, where git is killed after it has moved the ref', async () => {
    const restore = replaceGit('fast-import', killAtTheEnd);
    const commit = await importFiles([['a', null]]).finally(restore);
    strictEqual(clone.git('rev-parse', 'main'), commit);
    strictEqual(clone.git('rev-parse', 'main^'), tip);
  });

  it('is made where the process that runs git is killed, and git goes on @slow', async () => {
    const input = join(tempFolder(), 'input');
    const takeBack = replaceGit('fast-import', goOnAlone(input));
    const runner = new GitRunner();
    try {
      repository = await openRepository(clone.folder, runner);
      const importing = importFiles([['a', null]]);
      await eventually(() => existsSync(input));
      process.kill(Number(runner.pid), 'SIGKILL');
      strictEqual(await importing, clone.git('rev-parse', 'main'));
      notStrictEqual(clone.git('rev-parse', 'main'), tip);
    } finally {
      takeBack();
      repository.objects.close();
      runner.close();
    }
  });

  it('leaves no report of Git where it fails', async () => {
    await rejects(writeCommit(repository, { parents: ['1'.repeat(40)], message: 'x' }), GitError);
    deepStrictEqual(
      readdirSync(repository.gitDir).filter((name) => name.includes('crash')),
      [],
    );
  });

  it('has the given parents, tree and message, and is on no ref where none is named', async () => {
    const other = clone.git('commit-tree', 'HEAD^{tree}', '-m', 'Other');
    const tree = clone.git('rev-parse', 'HEAD:folder');
    const files = new Map([['c', { mode: '100644', content: Buffer.from('c') }]]);
    const message = 'Merge\n\ndata 5\ndone\n';
    const refs = clone.git('for-each-ref');
    const commit = await writeCommit(repository, { parents: [tip, other], tree, files, message });
    strictEqual(clone.git('log', '-1', '--format=%P', commit), `${tip} ${other}`);
    strictEqual(clone.git('log', '-1', '--format=%B', commit), message.trim());
    strictEqual(clone.git('ls-tree', '--name-only', commit), 'b\nc');
    strictEqual(clone.git('for-each-ref'), refs);
  });

  async function importFiles(files: readonly (readonly [string, NewFile])[]): Promise<string> {
    const ref = 'refs/heads/main';
    return await importCommit(repository, {
      ref,
      onto: tip,
      message: 'Change\n',
      urgent: false,
      files: new Map(files),
    });
  }
});

const killAtTheEnd = 'git "$@"; kill -9 $$';
