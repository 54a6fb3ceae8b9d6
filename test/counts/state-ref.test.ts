import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUnavailable } from '../../src/bot/errors.ts';
import { createStateRef, type StateRef, pruneHistory } from '../../src/counts/state-ref.ts';
import { toShardPath } from '../../src/counts/state.ts';
import { writeHistory } from '../../src/git/commit-files.ts';
import { silentLog } from '../../src/lib/log.ts';
import { readState } from '../support/counts.ts';
import { openerOf, openUntilEnd } from '../support/opened.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

const one = new Map([['66/33.json', '{"a":1}\n']]);
const two = new Map([
  ['66/33.json', '{"a":2}\n'],
  ['00/01.json', '{"é":1}\n'],
]);

describe('the state ref', () => {
  it('is empty while it does not exist, and cannot be written where there is no repository', async () => {
    deepStrictEqual(await readState(stateIn().state), { commit: null, files: new Map() });
    await rejects(refOf(tempFolder()).commit(null, one, 'Count 1 bot'), isUnavailable);
  });

  it('returns what was committed, and keeps the files that a commit does not name', async () => {
    const { state, repository } = stateIn();
    const first = await state.commit(null, two, 'Count 2 bots');
    const second = await state.commit(first, one, 'Count 1 bot');
    const { commit, files } = await readState(state);
    strictEqual(commit, second);
    deepStrictEqual(Object.fromEntries(files), { '00/01.json': '{"é":1}\n', '66/33.json': '{"a":1}\n' });
    strictEqual(repository.git('log', '--format=%s', 'refs/botshelf/state'), 'Count 1 bot\nCount 2 bots');
    strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
    strictEqual(repository.status(), '');
  });

  it('has files of days beside, which are not read, and gets the lines that the one of a day lacks', async () => {
    const { state, repository } = stateIn();
    const day = 'days/2026/11-22';
    const first = await state.commit(null, new Map([...one, [day, '7 1 5\n8 2 5\n']]), 'Count 1 bot');
    deepStrictEqual((await readState(state)).files, one);
    const second = await state.commit(
      first,
      new Map([...two, [day, '7 9 4\n8 1 6\n12 3 1\n']]),
      'Count 2 bots',
    );
    deepStrictEqual((await readState(state, first ?? '')).files, two);
    strictEqual(repository.git('show', `${second}:${day}`), '7 1 5\n8 1 6\n12 3 1');
    strictEqual(await state.commit(second, new Map([[day, '']]), 'Count 0 bots'), second);
  });

  it('has all of thousands of files that are committed at once, with time for others between them @long', async () => {
    const { state } = stateIn();
    const files = new Map(
      Array.from({ length: 4000 }, (_, n) => [toShardPath(n), `${n}\n`.repeat(50)] as const),
    );
    await state.commit(null, files, 'Count 4000 bots');
    deepStrictEqual((await readState(state)).files, files);
  });

  it('commits nothing where the tree would stay as it is, and publishes each commit', async () => {
    const repository = testRepository({ file: 'text' });
    const published: unknown[] = [];
    const branch = { publish: (event: unknown) => void published.push(event) };
    const state = createStateRef(openerOf(repository.folder), silentLog, branch);
    const first = await state.commit(null, one, 'Count 1 bot');
    strictEqual(await state.commit(first, one, 'Count 1 bot'), first);
    deepStrictEqual(published, [{ ref: 'state', commit: first }]);
    strictEqual(repository.git('rev-list', '--count', 'refs/botshelf/state'), '1');
  });

  it('refuses a commit on another tip than the one there is, also one that was there before', async () => {
    const { state, repository } = stateIn();
    const first = await state.commit(null, one, 'Count 1 bot');
    const second = await state.commit(first, two, 'Count 2 bots');
    await rejects(state.commit(first, new Map([['a', 'b']]), 'Late'), { code: 'ref-conflict' });
    await rejects(state.commit(null, one, 'Late'), { code: 'ref-conflict' });
    await rejects(state.commit(first, one, 'Late, and nothing new'), { code: 'ref-conflict' });
    repository.git('update-ref', 'refs/botshelf/state', String(first));
    await rejects(state.commit(second, new Map([['a', 'b']]), 'On what was taken back'), {
      code: 'ref-conflict',
    });
  });

  it('shows by its mark that the tip has moved, packed or not', async () => {
    const { state, repository } = stateIn();
    const marks = [state.peek()];
    const mark = (): void => void marks.push(state.peek());
    const first = await state.commit(null, one, 'Count 1 bot');
    mark();
    strictEqual(state.peek(), marks[1]);
    const second = await state.commit(first, two, 'Count 2 bots');
    mark();
    repository.git('pack-refs', '--all');
    mark();
    strictEqual((await readState(state)).commit, second);
    repository.git('update-ref', 'refs/botshelf/state', String(first));
    mark();
    strictEqual(new Set(marks).size, marks.length);
    strictEqual((await readState(state)).commit, first);
  });

  it('is shared by the linked worktrees of a repository', async () => {
    const { state, repository } = stateIn();
    const folder = join(tempFolder(), 'linked');
    repository.git('worktree', 'add', '-q', '-b', 'side', folder);
    const first = await state.commit(null, one, 'Count 1 bot');
    const linked = refOf(folder);
    strictEqual((await readState(linked)).commit, first);
    const before = state.peek();
    await linked.commit(first, two, 'Count 2 bots');
    notStrictEqual(state.peek(), before);
  });

  it('clears the lock of a git that was killed @slow', async () => {
    const { state, repository } = stateIn();
    const first = await state.commit(null, one, 'Count 1 bot');
    writeFileSync(join(repository.folder, '.git/refs/botshelf/state.lock'), '');
    notStrictEqual(await state.commit(first, two, 'Count 2 bots'), first);
  });

  it('is not fetched by an ordinary clone', async () => {
    const { state, repository } = stateIn();
    await state.commit(null, one, 'Count 1 bot');
    const clone = join(tempFolder(), 'clone');
    repository.git('clone', '-q', `file://${repository.folder}`, clone);
    strictEqual(repository.git('-C', clone, 'for-each-ref', 'refs/botshelf'), '');
  });
});

function stateIn(): { state: StateRef; repository: TestRepository } {
  const repository = testRepository({ file: 'text' });
  return { state: refOf(repository.folder), repository };
}

function refOf(folder: string): StateRef {
  return createStateRef(openerOf(folder), silentLog);
}

const day = 24 * 60 * 60;
describe('pruning the history of the state', () => {
  it('keeps the last commits, with the same trees, and always the tip, and leaves the branch alone', async () => {
    const repository = testRepository({ file: 'text' });
    const [head, tree] = ['HEAD', 'HEAD^{tree}'].map((name) => repository.git('rev-parse', name));
    const commits = [1.1, 1.2, 1.3, 2.5, 8.1, 8.2].map((days) => ({
      tree: String(tree),
      committer: `Botshelf <botshelf@localhost> ${Math.round(days * day)} +0000`,
      message: `Count ${days} bots`,
    }));
    const opened = await openUntilEnd(repository.folder);
    repository.git('update-ref', 'refs/botshelf/state', await writeHistory(opened, commits));
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

  it('keeps who changed tokens, on any machine, in the last 10,000 changes, and the tree of none', async () => {
    const repository = testRepository({ file: 'text' });
    const opened = await openUntilEnd(repository.folder);
    const tree = repository.git('rev-parse', 'HEAD^{tree}');
    const write = async (begin: number, messages: readonly string[]): Promise<string> =>
      await writeHistory(
        opened,
        messages.map((message, i) => ({
          tree,
          committer: `Botshelf <botshelf@localhost> ${begin + i} +0000`,
          message,
        })),
      );
    const issued = Array.from({ length: 10_000 }, (_, i) => `Issue a token to ${i}, by account 1`);
    const revoked = 'Revoke the tokens of 7, 8, by user marge';
    const merged = [
      await write(1, [...issued, 'Count 2 bots']),
      await write(20_000, ['Count 1 bot', revoked]),
    ].flatMap((parent) => ['-p', parent]);
    const empty = repository.git('mktree', '--missing', '-z');
    const merge = repository.git('commit-tree', empty, ...merged, '-m', 'Merge the counts of a replica');
    repository.git('update-ref', 'refs/botshelf/state', merge);
    const list = (format: string): string[] =>
      repository.git('log', '--reverse', `--format=${format}`, 'refs/botshelf/state').split('\n');
    strictEqual(await pruneHistory(opened, 30_000), 3);
    strictEqual(await pruneHistory(opened, 30_000), 0);
    deepStrictEqual(list('%s'), [...issued.slice(1), revoked, 'Merge the counts of a replica']);
    deepStrictEqual(new Set(list('%T')), new Set([empty]));
    const [first] = list('%H');
    const args = ['commit-tree', empty, '-p', 'refs/botshelf/state', '-m', 'Count 3 bots'];
    repository.git('update-ref', 'refs/botshelf/state', repository.git(...args));
    strictEqual(await pruneHistory(opened, Date.now() / 1000 + 1000), 1);
    deepStrictEqual(list('%s'), [...issued.slice(1), revoked, 'Count 3 bots']);
    ok(!list('%H').includes(String(first)));
  });
});
