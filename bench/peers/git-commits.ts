import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { editPage, type Stage } from '../stage.ts';
import { takeNumbers } from '../request.ts';

/** Edits a page and commits it with plain git, `many` times in a clone of its own. Returns the milliseconds of each. */
export function timeGitCommits(stage: Stage, many: number): number[] {
  const folder = join(stage.tempFolder(), 'clone');
  execFileSync('git', ['clone', '--quiet', '--shared', stage.catalogue, folder]);
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost', ...args], {
      cwd: folder,
    });
  };
  return stage.bots.slice(0, many).map(({ path }) => {
    const started = performance.now();
    editPage(folder, path, { website: `https://example.org/${takeNumbers(1)}` });
    git('add', '--', path);
    git('commit', '--quiet', '-m', 'Update a bot');
    return performance.now() - started;
  });
}
