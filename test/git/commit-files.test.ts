import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitFiles, type FilesCommit } from '../../src/git/commit-files.ts';
import { openUntilEnd } from '../support/opened.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

const path = 'bots/312/190519304972663312.en.md';
const other = 'bots/001/1.en.md';

describe('files that a command commits', () => {
  it('are in the branch, the index and the work tree, and removed ones are gone', async () => {
    const repository = testRepository({ [path]: 'old', [other]: 'old' });
    const files = toCommit({ [path]: 'new', [other]: null, 'bots/002/2.en.md': 'new' });
    const commit = await commitFiles(await openUntilEnd(repository.folder), async () => files);
    strictEqual(repository.git('rev-parse', 'HEAD'), commit);
    strictEqual(repository.read(path), 'new');
    strictEqual(repository.git('ls-files'), `.gitignore\nbots/002/2.en.md\n${path}`);
    strictEqual(repository.status(), '');
    strictEqual(repository.git('log', '-1', '--format=%B'), 'Change bots');
  });

  it('may be the first ones', async () => {
    const repository = repositoryIn(tempFolder());
    repository.git('init', '-q', '-b', 'main');
    await commitFiles(await openUntilEnd(repository.folder), async () => toCommit({ [path]: 'new' }));
    strictEqual(repository.read(path), 'new');
    strictEqual(repository.status(), '');
  });

  it('are planned again on a branch that has moved', async () => {
    const repository = testRepository({ [path]: 'old' });
    const tips = new Set<string | null>();
    await commitFiles(await openUntilEnd(repository.folder), async (tip) => {
      if (tips.size === 0) repository.commit({ [other]: 'of a person' });
      tips.add(tip);
      return toCommit({ [path]: 'new' });
    });
    strictEqual(tips.size, 2);
    strictEqual(repository.read(other), 'of a person');
    strictEqual(repository.read(path), 'new');
  });

  it('wait for the lock of another git', async () => {
    const repository = testRepository({ [path]: 'old' });
    const lock = join(repository.folder, '.git/index.lock');
    writeFileSync(lock, '');
    const committed = commitFiles(await openUntilEnd(repository.folder), async () =>
      toCommit({ [path]: 'new' }),
    );
    await sleep(300);
    strictEqual(repository.read(path), 'old');
    rmSync(lock);
    await committed;
    strictEqual(repository.read(path), 'new');
  });

  it('leave the uncommitted edits of a person alone, and refuse to replace them', async () => {
    const repository = testRepository({ [path]: 'old', [other]: 'old' });
    const tip = repository.git('rev-parse', 'HEAD');
    // Or a merge would lay them under these edits.
    repository.git('config', 'merge.autoStash', 'true');
    repository.write(path, 'edited');
    const opened = await openUntilEnd(repository.folder);
    let plans = 0;
    await rejects(
      commitFiles(opened, async () => {
        plans++;
        return toCommit({ [path]: 'new' });
      }),
      /local changes.*would be overwritten/,
    );
    deepStrictEqual([repository.git('rev-parse', 'HEAD'), plans], [tip, 1]);
    await commitFiles(opened, async () => toCommit({ [other]: 'new' }));
    strictEqual(repository.read(path), 'edited');
    strictEqual(repository.status(), `M ${path}`);
    strictEqual(repository.git('stash', 'list'), '');
  });

  it('are none where nothing changes', async () => {
    const repository = testRepository({ [path]: 'old' });
    strictEqual(await commitFiles(await openUntilEnd(repository.folder), async () => undefined), null);
    strictEqual(repository.git('rev-list', '--count', 'HEAD'), '1');
  });
});

function toCommit(files: Readonly<Record<string, string | null>>): FilesCommit {
  const entries = Object.entries(files).map(([name, text]) => {
    return [name, text === null ? null : { mode: '100644', content: Buffer.from(text) }] as const;
  });
  return { files: new Map(entries), message: 'Change bots\n' };
}
