import { strictEqual } from 'node:assert/strict';
import { removeCredentials, GitError } from '../../src/git/run-git.ts';

describe('the password in the address of a remote', () => {
  it('is removed where a Git error is made: from its message, command, stack and what git said', () => {
    for (const [text, expected] of [
      [
        "unable to access 'https://homer:secret@host/x/': Failed",
        "unable to access 'https://host/x/': Failed",
      ],
      ['https://homer:s%40cret@host/x', 'https://host/x'],
      ['https://homer:s@cret@host/x', 'https://host/x'],
      ['https://homer:se/cret@host/x', 'https://host/x'],
      ["https://homer:it's-secret@host/x", 'https://host/x'],
      ['https://ghp_secret@host/x', 'https://host/x'],
      ['ssh://secret@host:22/x', 'ssh://host:22/x'],
      ['https%3A%2F%2Fhomer%3Asecret%40host%2Fx', 'https%3A%2F%2Fhost%2Fx'],
      ['a https://homer:secret@b c https://homer:secret@d', 'a https://b c https://d'],
      ['http://127.0.0.1:8080/a@b.git', 'http://127.0.0.1:8080/a@b.git'],
      ["'http://host:8080': no a@b", "'http://host:8080': no a@b"],
      ['file:///srv/a@b.git', 'file:///srv/a@b.git'],
    ] as const) {
      strictEqual(removeCredentials(text), expected);
      const error = new GitError(['fetch', text], 128, text);
      const whole = [error.message, error.command, error.stderr, error.stack, error.reason];
      strictEqual(whole.join().includes('cret@'), false);
      strictEqual(error.stderr, expected);
    }
  });
});
