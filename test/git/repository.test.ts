import { match, ok, rejects, strictEqual } from 'node:assert/strict';
import { rmSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { findGitProcesses } from '../../src/git/leftovers.ts';
import { GitError } from '../../src/git/run-git.ts';
import {
  openRepository,
  type Repository,
  RepositoryOpener,
  readRef,
  updateRefs,
  readConfirmedTime,
  stateRef,
  findConversion,
} from '../../src/git/repository.ts';
import { cleanUp } from '../support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { openerOf, openUntilEnd } from '../support/opened.ts';
import { atTime } from '../support/at-time.ts';

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

const main = 'refs/heads/main';
const base = 'refs/botshelf/remote/base';

describe('refs that move together', () => {
  let repository: Repository;
  let [from, to] = ['', ''];
  beforeEach(async () => {
    const clone = testRepository({ file: 'text' });
    from = clone.git('rev-parse', 'HEAD');
    to = clone.git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'Next');
    repository = await openUntilEnd(clone.folder);
  });
  const updates = (): Map<string, { from: string | null; to: string }> =>
    new Map([
      [main, { from, to }],
      [base, { from: null, to }],
    ]);

  it('have moved where git has moved the first and failed at the second, which is tried again', async () => {
    let calls = 0;
    const run: Repository['run'] = async (args, options) => {
      if (args[0] !== 'update-ref' || ++calls > 1) return await repository.run(args, options);
      const [first = ''] = String(options?.input).split('update refs/botshelf');
      await repository.run(args, { ...options, input: first });
      throw new GitError(args, 128, "fatal: couldn't set 'refs/botshelf/remote/base'");
    };
    await updateRefs({ ...repository, run }, updates());
    strictEqual(await readRef(repository, main), to);
    strictEqual(await readRef(repository, base), to);
  });

  it('stay where they are when one of them is elsewhere', async () => {
    const wrong = new Map([...updates(), [base, { from: to, to: from }]]);
    await rejects(updateRefs(repository, wrong), { code: 'ref-conflict' });
    strictEqual(await readRef(repository, main), from);
  });
});

const start = 1_700_000_000_000;
const day = 86_400_000;

describe('the time by which things are deleted for their age', () => {
  it('is that of the clock where there is no commit', async () => {
    const { folder, git } = testRepository({ 'a.txt': '1\n' });
    git('checkout', '-q', '--orphan', 'other');
    const repository = await openUntilEnd(folder);
    await atTime(start, async () => strictEqual(await readConfirmedTime(repository), start));
  });

  it('is at most a day after the newest commit of branch and state', async () => {
    const { folder, commitAll, git } = testRepository({ 'a.txt': '1\n' });
    const repository = await openUntilEnd(folder);
    const [first = ''] = commitAll([{ files: { 'b.txt': '' }, at: start / 1000 }]);
    const [second = ''] = commitAll([{ files: { 'c.txt': '' }, at: start / 1000 + 1000 }]);
    git('reset', '-q', '--hard', first);
    await atTime(start + day, async () => strictEqual(await readConfirmedTime(repository), start + day));
    await atTime(start + 365 * day, async () => {
      strictEqual(await readConfirmedTime(repository), start + day);
      git('update-ref', stateRef, second);
      strictEqual(await readConfirmedTime(repository), start + day + 1_000_000);
    });
  });
});

const path = 'bots/007/7.en.md';
const text = 'one\n$Id$\n';

describe('a file that Git checks out with other bytes than it is committed with', () => {
  for (const [cause, attributes, config] of [
    ['core.autocrlf', '', ['core.autocrlf', 'true']],
    ['core.eol=crlf', '* text=auto\n', ['core.eol', 'crlf']],
    ['eol=crlf', '*.md eol=crlf\n', ['core.autocrlf', 'false']],
    ['ident', '*.md ident\n', ['core.autocrlf', 'false']],
    ['working-tree-encoding=UTF-16', '*.md working-tree-encoding=UTF-16\n', ['core.autocrlf', 'false']],
    ['filter=up', '*.md filter=up\n', ['filter.up.smudge', 'tr o 0']],
  ] as const) {
    it(`is named with ${cause}, and the command restores its bytes`, async () => {
      // Git refuses to add text that is not in the encoding.
      const isOwn = attributes === '' || cause.startsWith('working-tree-encoding');
      const { folder, git, status } = testRepository({
        [path]: text,
        ...(!isOwn && { '.gitattributes': attributes }),
      });
      if (isOwn) writeFileSync(join(folder, '.git/info/attributes'), attributes);
      git('config', ...config);
      if (cause === 'filter=up') git('config', 'filter.up.clean', 'tr 0 o');
      utimesSync(join(folder, path), 0, 0);
      git('checkout', '-q', '.');
      strictEqual(readFileSync(join(folder, path), 'latin1') === text, false);
      const repository = await openUntilEnd(folder);
      const found = (await findConversion(repository, 'bots/000/0.en.md')) ?? '';
      match(found, new RegExp(`\\(${cause}\\), so posts to their bots are refused: cd `));
      execFileSync('sh', ['-c', found.slice(found.lastIndexOf(': ') + 2)]);
      strictEqual(readFileSync(join(folder, path), 'latin1'), text);
      strictEqual(status(), '');
      strictEqual(await findConversion(repository, 'bots/000/0.en.md'), null);
    });
  }

  it('is not there with the settings of a catalogue, also where Git is set to convert', async () => {
    const { folder, git } = testRepository({ '.gitattributes': '* text=auto eol=lf\n', [path]: text });
    git('config', 'core.autocrlf', 'true');
    git('config', 'core.eol', 'crlf');
    strictEqual(await findConversion(await openUntilEnd(folder), path), null);
    const input = testRepository({ [path]: text });
    input.git('config', 'core.autocrlf', 'input');
    strictEqual(await findConversion(await openUntilEnd(input.folder), path), null);
  });
});
