import { join } from 'node:path';
import { repositoryIn, testRepository, type TestRepository } from './repository.ts';
import { gitSync } from './run-sync.ts';
import { tempFolder } from './temp-folder.ts';

/** A bare repository as a Git server has it, and a maintainer who works on it from a clone. */
export interface SharedRepository {
  /** The bare repository's folder. */
  readonly folder: string;
  readonly address: string;
  /** Runs git in the bare repository. */
  git(...args: string[]): string;
  /** Makes another clone. */
  clone(): TestRepository;
  /** Merges a pull request: a branch with one commit of `work` in the maintainer's clone, merged and pushed. */
  mergePullRequest(work: (clone: TestRepository) => void, title?: string): string;
  /** The maintainer's clone, for what is no pull request. */
  readonly maintainer: TestRepository;
}

/** A shared repository whose branch `main` holds these files. */
export function sharedRepository(files: Readonly<Record<string, string>>): SharedRepository {
  const root = tempFolder();
  const folder = join(root, 'shared.git');
  const maintainer = testRepository(files, join(root, 'maintainer'));
  gitSync({ args: ['clone', '-q', '--bare', maintainer.folder, folder], cwd: root });
  const address = `file://${folder}`;
  maintainer.git('remote', 'add', 'origin', address);
  let clones = 0;
  let pulls = 0;
  return {
    folder,
    address,
    maintainer,
    git: repositoryIn(folder).git,
    clone: () => {
      const to = join(root, `clone-${++clones}`);
      gitSync({ args: ['clone', '-q', address, to], cwd: root });
      return repositoryIn(to);
    },
    mergePullRequest: (work, title = 'Edit by pull request') => {
      const branch = `pull-${++pulls}`;
      maintainer.git('fetch', '-q', 'origin');
      maintainer.git('switch', '-q', '-C', branch, 'origin/main');
      work(maintainer);
      maintainer.commit({}, title);
      for (;;) {
        maintainer.git('fetch', '-q', 'origin');
        maintainer.git('switch', '-q', '-C', 'main', 'origin/main');
        maintainer.git(
          'merge',
          '-q',
          '--no-ff',
          '-X',
          'theirs',
          '-m',
          `Merge pull request: ${title}`,
          branch,
        );
        if (maintainer.tryGit('push', '-q', 'origin', 'main') === 0)
          return maintainer.git('rev-parse', 'HEAD');
      }
    },
  };
}
