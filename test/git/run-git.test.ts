import { rejects, strictEqual } from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runGit, removeCredentials, GitError } from '../../src/git/run-git.ts';
import { toUnavailableError } from '../../src/git/repository.ts';
import { testRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('a git command of the service', () => {
  it('runs no hook, monitor or signing program that the repository names, in whichever way it is run @slow', async () => {
    const { folder, git } = testRepository({ file: 'text' });
    const programs = tempFolder();
    const proof = join(programs, 'proof');
    const program = join(programs, 'program');
    writeFileSync(program, `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
    const hooks = join(programs, 'hooks');
    mkdirSync(hooks);
    for (const hook of ['pre-commit', 'post-commit', 'reference-transaction', 'pre-push'])
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 });
    git('config', 'core.hooksPath', hooks);
    git('config', 'core.fsmonitor', program);
    git('config', 'commit.gpgSign', 'true');
    git('config', 'gpg.program', program);
    const commit = ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x'];
    const remote = join(programs, 'remote.git');
    git('init', '-q', '--bare', remote);
    const push = ['push', '-q', remote, 'HEAD'];
    for (const way of [
      {},
      { background: true },
      { stallSeconds: 60 },
      { outputFile: join(programs, 'out') },
    ]) {
      for (const args of [commit, push, ['status', '--porcelain']]) await runGit({ folder, args, ...way });
      strictEqual(existsSync(proof), false, JSON.stringify(way));
    }
  });
});

describe('the password in the address of a remote', () => {
  it('is removed where a Git error is made: from its message, command, stack and what git said', () => {
    for (const { input: text, expected: wanted } of readCases('addresses-with-passwords')) {
      const expected = wanted.join();
      strictEqual(removeCredentials(text), expected);
      const error = new GitError(['fetch', text], 128, text);
      const whole = [error.message, error.command, error.stderr, error.stack, error.reason];
      strictEqual(whole.join().includes('cret@'), false);
      strictEqual(error.stderr, expected);
    }
  });
});

describe('the advice for a failed git', () => {
  it('is to install it only if it is missing', async () => {
    const folder = join(tempFolder(), 'none');
    const args = ['version'];
    await rejects(runGit({ folder, args, stallSeconds: 60 }), (error) => {
      strictEqual(error instanceof GitError && error.startFailure, undefined);
      return String(error).endsWith('its folder does not exist');
    });
    const missing = new GitError(args, -2, 'Error: spawn git ENOENT\n    at x');
    strictEqual(toUnavailableError(missing).message, missing.startFailure);
    strictEqual(missing.startFailure, 'git cannot be run: install it, or put it on the PATH');
    strictEqual(new GitError(args, 128, 'spawn git ENOENT').startFailure, undefined);
  });

  it('has no name of a temporary file, which is another one at each try', () => {
    const said =
      "fatal: Unable to create temporary file '/x/objects/pack/tmp_pack_AbCdEf': Read-only file system";
    strictEqual(
      toUnavailableError(new GitError(['fast-import'], 128, `x\n${said}\n`)).message,
      `git could not write (${said.replace('tmp_pack_AbCdEf', 'tmp')}): look at the disk and the repository`,
    );
  });
});
