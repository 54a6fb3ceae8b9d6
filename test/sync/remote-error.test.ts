import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { GitError } from '../../src/git/run-git.ts';
import { describeRemoteError } from '../../src/sync/remote.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('the message about a remote', () => {
  for (const { title, input, expected } of readCases('remote-errors'))
    it(title, () => {
      const [status, stderr] = JSON.parse(input) as [number | null, string];
      deepStrictEqual([describeRemoteError(new GitError(['push'], status, stderr))], expected);
    });

  it('has no control characters of the remote', () => {
    const error = new GitError(['fetch'], 128, 'remote: \u001B[31mred\nfatal: no');
    strictEqual(describeRemoteError(error), 'the remote says: [31mred; git says: fatal: no');
  });

  it('is made of the beginnings of lines, whatever the remote sends', () => {
    const blanks = '\t \u2028'.repeat(20_000);
    for (const line of [
      `remote:${blanks}a`,
      `remote: a${blanks}`,
      `ERROR:${blanks}`,
      `remote: a${'b\u2028'.repeat(30_000)}`,
      `${blanks}a${blanks}`,
    ])
      match(
        describeRemoteError(new GitError(['push'], 1, `${line}\nfatal: no`)),
        /^.{0,700}git says: fatal: no$/,
      );
  });
});
