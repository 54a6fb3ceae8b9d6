import { gitSync } from './run-sync.ts';
import type { TestRepository } from './repository.ts';

/** Writes a tree of ten million paths in eight objects, in `folder` of a commit on main, as the branch. Returns the commit. */
export function commitHugeTree(
  { folder: cwd, git }: Pick<TestRepository, 'folder' | 'git'>,
  folder: string,
  branch: string,
): string {
  const makeTree = (entries: string): string => gitSync({ args: ['mktree'], cwd, input: entries }).trim();
  let entry = `100644 blob ${gitSync({ args: ['hash-object', '-w', '--stdin'], cwd, input: 'x' }).trim()}`;
  for (let depth = 0; depth < 7; depth++) {
    const entries = Array.from({ length: 10 }, (_, i) => `${entry}\t${i}\n`);
    entry = `040000 tree ${makeTree(entries.join(''))}`;
  }
  const others = git('ls-tree', 'main')
    .split('\n')
    .filter((line) => !line.endsWith(`\t${folder}`));
  const tree = makeTree([...others, `${entry}\t${folder}`, ''].join('\n'));
  const commit = git('commit-tree', tree, '-p', 'main', '-m', 'Add ten million files');
  git('update-ref', `refs/heads/${branch}`, commit);
  return commit;
}
