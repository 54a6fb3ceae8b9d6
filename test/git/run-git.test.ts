import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runGit } from '../../src/git/run-git.ts';
import { testRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

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

  it('ends when what takes its output throws, and throws that', async () => {
    const { folder } = testRepository({ file: 'x'.repeat(1_000_000) });
    const pieces: number[] = [];
    const take = (piece: Buffer): void => {
      pieces.push(piece.length);
      throw new RangeError('enough');
    };
    await rejects(runGit({ folder, args: ['cat-file', 'blob', 'HEAD:file'] }, { take }), /enough/);
    deepStrictEqual(pieces.length, 1);
  });
});
