import { match, strictEqual } from 'node:assert/strict';
import { GitError } from '../../src/git/run-git.ts';
import { describeRemoteError } from '../../src/sync/remote.ts';

describe('the message about a remote', () => {
  const cases = [
    [
      'the first error of git',
      128,
      'warning: x\nfatal: repository not found\nhelp',
      'git says: fatal: repository not found',
    ],
    [
      'the line after a colon',
      128,
      'fatal: unable to connect:\nrefused\n',
      'git says: fatal: unable to connect: refused',
    ],
    [
      'the words of the remote first, and which ref it rejected, without what was rejected with it',
      1,
      'remote: no force\nremote: \n ! [remote rejected] abc -> main (hook declined)\n ! [rejected] def -> refs/x (atomic push failed)\n',
      'the remote says: no force; git says: main is refused (hook declined)',
    ],
    [
      'what to do when git was killed',
      null,
      '',
      'git was killed: look at the load of this machine, the network and the Git server',
    ],
    [
      'what to do where there is no git',
      -1,
      'spawn git ENOENT',
      'git cannot be run: install it, or put it on the PATH',
    ],
    [
      'why git could not be started where it is installed',
      -2,
      'Error: spawn git EAGAIN\n    at ChildProcess',
      'git cannot be run (Error: spawn git EAGAIN): look at the memory of this machine and the limits of this user',
    ],
    [
      'what ssh says before git does',
      128,
      "Warning: Permanently added 'h' (ED25519) to the list of known hosts.\nx\ngit@h: Permission denied (publickey).\n\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\n",
      'git says: x git@h: Permission denied (publickey). fatal: Could not read from remote repository.',
    ],
    [
      'what a Git host says over ssh once',
      128,
      'ssh: x\nERROR: Repository not found.\nfatal: Could not read from remote repository.\n',
      'the remote says: Repository not found.; git says: ssh: x fatal: Could not read from remote repository.',
    ],
  ] as const;

  for (const [title, status, stderr, message] of cases)
    it(`has ${title}`, () =>
      strictEqual(describeRemoteError(new GitError(['push'], status, stderr)), message));

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
