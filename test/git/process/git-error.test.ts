import { match, strictEqual } from 'node:assert/strict';
import { dirname } from 'node:path';
import { removeCredentials } from '../../../src/git/process/git-error.ts';
import { GitError } from '../../../src/git/process/git-error.ts';
import { eventually } from '../../support/eventually.ts';
import { startGitServer } from '../../support/git-server.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { issueTestToken } from '../../support/token.ts';
import { updateRequest } from '../../support/update-request.ts';

describe('the password in the address of a remote', () => {
  it('is in no log line, no probe, no metric and no answer, however the remote fails', async () => {
    const shared = sharedRepository({ [pagePath('1')]: mainPage() });
    const server = await startGitServer(dirname(shared.folder), ['shared.git']);
    const clone = shared.clone();
    const token = await issueTestToken(clone.folder, '1');
    const address = `${server.address.replace('//', '//homer:s3cr%40t%2Fword@')}/shared.git`;
    const service = await startServiceProcess(clone.folder, {
      BOTSHELF_REMOTE: address,
      BOTSHELF_SYNC_SECONDS: '1',
      BOTSHELF_PUSH_SECONDS: '0',
      BOTSHELF_ACK: 'remote',
    });
    service.expectLog(/not in step with the remote/);
    const get = async (path: string, init?: RequestInit): Promise<string> =>
      await (await fetch(service.address + path, init)).text();
    const seen: string[] = [];
    for (const [mode, reason] of [
      ['cut', /unable to access 'http:\/\/127/],
      ['refuse', /Authentication failed/],
    ] as const) {
      server.mode = mode;
      await eventually(async () => match(await get('/readyz'), reason));
      const post = await get(
        '/api/v2/bots/1',
        updateRequest(token, { website: `https://example.org/${mode}` }),
      );
      seen.push(post, await get('/readyz'), await get('/metrics'));
    }
    strictEqual(await service.end('SIGTERM'), 0);
    seen.push(service.log());
    for (const text of seen) strictEqual(/homer|s3cr|word@/.exec(text)?.[0], undefined, text);
  });

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
