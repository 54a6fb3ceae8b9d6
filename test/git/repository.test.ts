import { match, ok, rejects, strictEqual } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { findGitProcesses } from '../../src/git/leftovers.ts';
import { GitError } from '../../src/git/run-git.ts';
import { openRepository, type Repository, RepositoryOpener } from '../../src/git/repository.ts';
import { cleanUp } from '../support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { openerOf } from '../support/opened.ts';

describe('git of a repository', () => {
  it('is no success where it was killed by a signal, or failed without a word', async () => {
    const { opened } = await open();
    const running = opened.run(['cat-file', '--batch-check']);
    const rejected = rejects(running, (error) => error instanceof GitError && error.status === null);
    await killGit(opened, '--batch-check');
    await rejected;
    const silent = opened.run(['rev-parse', '--verify', '--quiet', 'refs/heads/none']);
    await rejects(silent, (error) => error instanceof GitError && error.status === 1 && error.stderr === '');
  });

  it('says which command failed, how, and what git said', async () => {
    const { opened } = await open();
    await rejects(
      opened.run(['show', 'nothing']),
      /git show nothing ended with 128: fatal: ambiguous argument/,
    );
  });

  it('is not asked about a folder that is not there, and has no word in what is said of it', async () => {
    const { repository } = await open();
    for (const path of ['nowhere', 'file', 'file/below']) {
      const catalogue = join(repository.folder, path);
      const message = `${catalogue} is not a folder: set BOTSHELF_CATALOGUE to a clone`;
      await rejects(openRepository(catalogue), { message });
    }
  });

  it('hands on no GIT_ variable that would point at another repository', async () => {
    const elsewhere = testRepository({ other: 'text' });
    const { opened, repository } = await open();
    process.env['GIT_DIR'] = join(elsewhere.folder, '.git');
    process.env['GIT_INDEX_FILE'] = join(elsewhere.folder, '.git/index');
    try {
      strictEqual((await opened.run(['ls-files'])).includes('other'), false);
      strictEqual((await openRepository(repository.folder)).gitDir, join(repository.folder, '.git'));
      strictEqual((await opened.objects.readOne('HEAD:file'))?.content.toString(), 'text');
    } finally {
      delete process.env['GIT_DIR'];
      delete process.env['GIT_INDEX_FILE'];
    }
  });
});

describe('the opener of a repository', () => {
  it('opens it once for many who ask at once, so that each git it keeps is ended', async () => {
    const opener = openerOf(testRepository({ file: 'text' }).folder);
    strictEqual(new Set(await Promise.all([1, 2, 3].map(() => opener.open()))).size, 1);
  });

  it('says to clone again where the clone was deleted, as a new repository would be an unrelated one', async () => {
    const { folder } = testRepository({ file: 'text' });
    const opener = openerOf(folder);
    await opener.open();
    rmSync(join(folder, '.git'), { recursive: true });
    const clone =
      /was deleted: stop the service, clone it again and start, or set BOTSHELF_CATALOGUE to a clone$/;
    match(opener.unavailableReason() ?? '', clone);
    await rejects(opener.open(), { message: clone });
    rmSync(folder, { recursive: true });
    await rejects(opener.open(), { message: clone });
  });

  it('opens none once it is closed, also for one who asked before, so that no git is left that nobody ends', async () => {
    const { folder } = testRepository({ file: 'text' });
    const opener = new RepositoryOpener(folder);
    const asked = opener.open();
    opener.close();
    const refused = { message: /the service is stopping/ };
    await rejects(asked, refused);
    await rejects(opener.open(), refused);
    strictEqual(opener.opened, undefined);
  });
});

describe('the objects of a repository', () => {
  it('are read through one git, which sees what others write and move', async () => {
    const { opened, repository } = await open();
    strictEqual((await opened.objects.readOne('refs/heads/main'))?.id, repository.git('rev-parse', 'HEAD'));
    const next = repository.commit({ file: 'newer' });
    repository.git('gc', '-q');
    strictEqual((await opened.objects.readOne('refs/heads/main'))?.id, next);
    const read = await opened.objects.read(['HEAD:file', 'HEAD:none', 'HEAD:.gitignore']);
    strictEqual(read.map((object) => object?.content.toString()).join('|'), 'newer||/var/\n');
  });

  it('are read again after the git was killed', async () => {
    const { opened } = await open();
    await opened.objects.readOne('HEAD');
    await killGit(opened, 'cat-file');
    await eventually(async () => ok(await opened.objects.readOne('HEAD')));
  });
});

async function open(): Promise<{ opened: Repository; repository: TestRepository }> {
  const repository = testRepository({ file: 'text' });
  // The tests' own git uses no simple-git.
  const opened = await openRepository(repository.folder);
  cleanUp(() => opened.objects.close());
  return { opened, repository };
}

/** Kills the git of this command that runs in the repository, whichever process has started it. */
async function killGit(repository: Repository, command: string): Promise<void> {
  await eventually(async () => {
    const { seen } = await findGitProcesses(repository);
    const git = seen.find(({ args }) => args.includes(command));
    ok(git, `there is no ${command} to kill`);
    process.kill(git.pid, 'SIGKILL');
  });
}
