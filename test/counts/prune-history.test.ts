import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { pruneHistory } from '../../src/counts/state-ref.ts';
import { gitSync } from '../support/run-sync.ts';
import { testRepository } from '../support/repository.ts';
import { openUntilEnd } from '../support/opened.ts';

const day = 24 * 60 * 60;
const identity = {
  GIT_AUTHOR_NAME: 'Botshelf',
  GIT_AUTHOR_EMAIL: 'botshelf@localhost',
  GIT_COMMITTER_NAME: 'Botshelf',
  GIT_COMMITTER_EMAIL: 'botshelf@localhost',
};

describe('pruning the history of the state', () => {
  it('keeps the last commits, with the same trees, and always the tip, and leaves the branch alone', async () => {
    const repository = testRepository({ file: 'text' });
    const head = repository.git('rev-parse', 'HEAD');
    const tree = repository.git('rev-parse', 'HEAD^{tree}');
    let tip: string | undefined;
    for (const days of [1.1, 1.2, 1.3, 2.5, 8.1, 8.2]) {
      const parent = tip === undefined ? [] : ['-p', tip];
      const env = { ...process.env, ...identity, GIT_COMMITTER_DATE: `@${Math.round(days * day)} +0000` };
      const args = ['commit-tree', tree, ...parent, '-m', `Count ${days} bots`];
      tip = gitSync({ args, cwd: repository.folder, env });
    }
    repository.git('update-ref', 'refs/botshelf/state', String(tip));
    const opened = await openUntilEnd(repository.folder);
    strictEqual(await pruneHistory(opened, 2 * day), 3);
    strictEqual(await pruneHistory(opened, 2 * day), 0);
    const log = repository.git('log', '--format=%s %ct %T', 'refs/botshelf/state').split('\n');
    deepStrictEqual(
      log,
      [8.2, 8.1, 2.5].map((days) => `Count ${days} bots ${Math.round(days * day)} ${tree}`),
    );
    strictEqual(await pruneHistory(opened, 10 * day), 2);
    strictEqual(repository.git('log', '--format=%s', 'refs/botshelf/state'), 'Count 8.2 bots');
    strictEqual(repository.git('rev-parse', 'HEAD'), head);
    strictEqual(
      repository.git('for-each-ref', '--format=%(refname)', 'refs/botshelf'),
      'refs/botshelf/state',
    );
    strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
  });
});
