import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findGitProcesses, parseCommand } from '../../src/git/leftovers.ts';
import { testRepository } from '../support/repository.ts';

describe('finding git processes', () => {
  it('returns those whose working folder is in the repository, with their parent, and no others', async () => {
    const [here, elsewhere] = [testRepository(), testRepository()].map(({ folder }) => folder);
    const folders = {
      folder: here ?? '',
      gitDir: join(here ?? '', '.git'),
      commonDir: join(here ?? '', '.git'),
    };
    const started = [here, elsewhere].map((cwd) => spawn('git', ['cat-file', '--batch'], { cwd }));
    try {
      for (const git of started) {
        git.stdin.write('HEAD\n');
        await once(git.stdout, 'data');
      }
      const { seen } = await findGitProcesses(folders);
      deepStrictEqual(seen, [
        { pid: started[0]?.pid, parent: process.pid, args: ['git', 'cat-file', '--batch'] },
      ]);
    } finally {
      for (const git of started) git.kill();
    }
  });

  for (const [args, command] of [
    [['git', 'fetch', '-q'], 'fetch'],
    [['git', '-c', 'a.b=commit', '-C', '/gc', '--no-pager', 'repack'], 'repack'],
    [['/usr/lib/git-core/git-remote-https', 'origin'], 'remote-https'],
    [['git'], ''],
  ] as const) {
    it(`parses the command of "${args.join(' ')}" as "${command}"`, () => {
      strictEqual(parseCommand({ pid: 1, parent: 0, args }), command);
    });
  }
});
