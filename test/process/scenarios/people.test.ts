import { match, ok, strictEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { testRepository, type TestRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { issueTestToken } from '../../support/token.ts';

const owned = ['1', '2'];
const edited = pagePath('5');
const page = mainPage({ website: null });

/** Git's errors when another git has the lock, or was faster; nothing is lost then. */
const usualWords =
  /index\.lock|cannot lock ref|unable to write|could not write|(?:uncommitted|unstaged|local) changes/i;

describe('a clone in which people work while owners post', function () {
  let repository: TestRepository;
  let service: TestService;
  let tokens: Map<string, string>;
  before(async () => {
    repository = testRepository(
      Object.fromEntries([...owned.map((id) => pagePath(id)), edited].map((path) => [path, page])),
    );
    tokens = new Map();
    for (const id of owned) tokens.set(id, await issueTestToken(repository.folder, id));
    service = await startTestService({}, { root: repository.folder });
    // The last one is a file that a person's git is still writing, seen on a slow machine.
    service.allowLog(
      /another Git command holds index\.lock|HEAD is on no branch|requests are refused|removed the stale lock of a killed git|does not begin with front matter/,
    );
  });

  let edits = 0;
  const editByHand = (): string => {
    const text = page.replace('The page.', `Edited by hand, ${++edits}.`);
    repository.write(edited, text);
    return text;
  };
  const worksAtLast = async (...args: string[]): Promise<void> => {
    while ((await git(repository, args)) !== 0) await rest(5);
  };

  it('keeps the commits of both', async () => {
    await beside(2, async () => {
      const text = editByHand();
      await worksAtLast('commit', '-qam', `By hand ${edits}`);
      strictEqual(repository.git('show', `HEAD:${edited}`), text.trim());
    });
  });

  it('waits for a commit of all changes whose editor is open', async () => {
    await beside(1, async () => {
      const text = editByHand();
      const editor = join(repository.folder, 'var/editor');
      writeFileSync(editor, '#!/bin/sh\nsleep 0.3\necho "In an editor" > "$1"\n', { mode: 0o755 });
      await worksAtLast('-c', `core.editor=${editor}`, 'commit', '-qa');
      strictEqual(repository.git('show', `HEAD:${edited}`), text.trim());
    });
  });

  it('makes Git refuse a commit with an open editor where the branch has moved', async () => {
    const editor = join(repository.folder, 'var/editor');
    writeFileSync(editor, '#!/bin/sh\nsleep 0.3\necho "In an editor" > "$1"\n', { mode: 0o755 });
    await beside(2, async () => {
      const text = editByHand();
      await worksAtLast('add', edited);
      const done = await git(repository, ['-c', `core.editor=${editor}`, 'commit', '-q']);
      if (done !== 0) await withoutPosts(async () => worksAtLast('commit', '-qm', 'Again'));
      strictEqual(repository.git('show', `HEAD:${edited}`), text.trim());
    });
  });

  it('keeps what is staged by hunks @long', async () => {
    await beside(1, async () => {
      const text = editByHand();
      // If it meets the lock, it succeeds without staging anything.
      while (repository.git('diff', '--cached', '--name-only', '--', edited) === '')
        await git(repository, ['add', '-p'], 'y\n');
      await worksAtLast('commit', '-qm', 'By hunks');
      strictEqual(repository.git('show', `HEAD:${edited}`), text.trim());
    });
  });

  it('keeps what is stashed @long', async () => {
    await beside(1, async () => {
      const text = editByHand();
      while (repository.git('stash', 'list') === '') await git(repository, ['stash', '-q']);
      await withoutPosts(async () => {
        do {
          // The service may hold the lock without a post, to update what the stash has left behind the branch. Then git
          // stash says nothing and keeps the stash.
          await worksAtLast('reset', '-q', '--hard');
          // Git reads HEAD and index for a stash one after the other: a post between them is in the stash, too.
          await git(repository, ['stash', 'pop', '-q']);
        } while (repository.read(edited) !== text && repository.git('stash', 'list') !== '');
        strictEqual(repository.read(edited), text);
        await worksAtLast('reset', '-q', '--hard');
        repository.git('stash', 'clear');
      });
    });
  });

  it('goes on between rebases @long', async () => {
    await beside(1, async () => {
      await worksAtLast('branch', '-f', 'base', 'HEAD~1');
      while ((await git(repository, ['rebase', '-q', '--force-rebase', 'base'])) !== 0) {
        // One that met the lock on its way stops there.
        while (existsSync(join(repository.folder, '.git/rebase-merge'))) {
          repository.tryGit('rebase', '--abort');
          await rest(20);
        }
      }
    });
  });

  it('writes to the branch that is checked out, whichever that is', async () => {
    service.allowLog(/the clone is on the branch side-\d, and the service began on main/);
    const commits = await beside(2, async (round) => {
      await worksAtLast('switch', '-q', '-c', `side-${round}`);
      await rest(50);
      await worksAtLast('switch', '-q', 'main');
    });
    for (const commit of commits)
      ok(repository.git('for-each-ref', '--contains', commit) !== '', `${commit} is on a branch`);
  });

  it('goes on while garbage is collected', async () => {
    await beside(1, async () => await worksAtLast('gc', '-q', '--prune=now'));
  });

  let pause: Promise<void> = Promise.resolve();

  /** Does a person's `work` while nobody posts. */
  async function withoutPosts(work: () => Promise<void>): Promise<void> {
    let resume = (): void => {};
    pause = new Promise((resolve) => (resume = resolve));
    await rest(300);
    await work().finally(() => resume());
  }

  /**
   * Does a person's `work` some times while every owner posts one edit after the other. Every post that was answered is
   * served and committed; everything is clean at the end. Returns the commits of the posts.
   */
  async function beside(rounds: number, work: (round: number) => Promise<void>): Promise<string[]> {
    const stop = new AbortController();
    const commits: string[] = [];
    const last = new Map<string, string>();
    const posting = owned.map(async (id) => {
      for (let n = 0; !stop.signal.aborted; n++) {
        await pause;
        const website = `https://example.org/${id}/${Date.now()}/${n}`;
        const { status, headers, text, json } = await service.post(id, tokens.get(id) ?? '', { website });
        if (status === 200) {
          last.set(id, website);
          commits.push(json.commit);
        } else {
          match(String(status), /409|503/, text);
          ok(Number(headers.get('retry-after')) > 0, text);
        }
        await rest(150);
      }
    });
    try {
      for (let round = 0; round < rounds; round++) await work(round);
    } finally {
      stop.abort();
      await Promise.all(posting);
    }
    ok(commits.length > 0, `${commits.length} posts were answered`);
    strictEqual(repository.git('rev-parse', '--abbrev-ref', 'HEAD'), 'main');
    strictEqual(repository.status(), '');
    repository.git('fsck', '--strict', '--no-dangling');
    for (const id of owned) {
      // A switch of branches is seen by the watcher.
      await eventually(async () => {
        const response = await fetch(`${service.address}/api/v2/bots/${id}`);
        const { website } = (await response.json()) as { website: string };
        match(repository.git('show', `HEAD:${pagePath(id)}`), new RegExp(`"${website}"`));
      });
    }
    return commits;
  }
});

/** Runs git as a person would, and returns its exit code. @throws {Error} where it fails in other than its usual words */
async function git({ folder }: TestRepository, args: readonly string[], input = ''): Promise<number> {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgSign=false'];
  const child = spawn('git', [...identity, ...args], { cwd: folder, env: { ...process.env, LC_ALL: 'C' } });
  let words = '';
  child.stderr.on('data', (chunk) => (words += String(chunk)));
  child.stdout.resume();
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  await once(child, 'close');
  const code = child.exitCode ?? -1;
  // git stash says nothing where the index is locked, and has a conflict where a post is in it.
  if (code !== 0) ok(args[0] === 'stash' || usualWords.test(words), `git ${args.join(' ')}: ${words}`);
  return code;
}
