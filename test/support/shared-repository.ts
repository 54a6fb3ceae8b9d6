import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
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
  const address = `file://${folder}`;
  const template = templateOf(files);
  const copy = (name: string, to = name): void =>
    cpSync(join(template, name), join(root, to), { recursive: true, preserveTimestamps: true });
  /** Has a copied clone fetch from this repository. */
  const adopt = (clone: string): TestRepository => {
    const config = join(clone, '.git/config');
    writeFileSync(config, readFileSync(config, 'utf8').replaceAll(`${template}/`, `${root}/`));
    const repository = repositoryIn(clone);
    repository.git('update-index', '-q', '--refresh');
    return repository;
  };
  for (const name of ['shared.git', 'maintainer']) copy(name);
  const maintainer = adopt(join(root, 'maintainer'));
  let clones = 0;
  let pulls = 0;
  return {
    folder,
    address,
    maintainer,
    git: repositoryIn(folder).git,
    clone: () => {
      const name = `clone-${++clones}`;
      const to = join(root, name);
      if (readRefs(folder) !== readRefs(join(template, 'shared.git')))
        gitSync({ args: ['clone', '-q', address, to], cwd: root });
      else copy('clone', name);
      return adopt(to);
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
        const theirs = ['-X', 'theirs', '-m', `Merge pull request: ${title}`];
        maintainer.git('merge', '-q', '--no-ff', ...theirs, branch);
        if (maintainer.tryGit('push', '-q', 'origin', 'main') === 0)
          return maintainer.git('rev-parse', 'HEAD');
      }
    },
  };
}

/** Content → a folder to be copied, with the bare repository, the maintainer's clone and one that was just made. */
const templates = new Map<string, string>();

function templateOf(files: Readonly<Record<string, string>>): string {
  const key = JSON.stringify(files);
  const known = templates.get(key);
  if (known !== undefined) return known;
  const root = tempFolder();
  const folder = join(root, 'shared.git');
  const maintainer = testRepository(files, join(root, 'maintainer'));
  gitSync({ args: ['clone', '-q', '--bare', maintainer.folder, folder], cwd: root });
  maintainer.git('remote', 'add', 'origin', `file://${folder}`);
  gitSync({ args: ['clone', '-q', `file://${folder}`, join(root, 'clone')], cwd: root });
  templates.set(key, root);
  return root;
}

/** All refs of a bare repository, packed or not: a clone of it is as before while they are. */
function readRefs(folder: string): string {
  const loose = readdirSync(join(folder, 'refs'), { recursive: true, encoding: 'utf8' }).toSorted();
  const files = ['packed-refs', 'HEAD', ...loose.map((name) => `refs/${name}`)].map((name) =>
    join(folder, name),
  );
  return files.map((file) => (statSync(file).isFile() ? readFileSync(file, 'utf8') : '')).join('\n');
}
