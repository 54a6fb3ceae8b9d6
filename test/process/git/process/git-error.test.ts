import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { botshelf } from '../../../support/command-line.ts';
import { eventually } from '../../../support/eventually.ts';
import { startGitServer } from '../../../support/git-server.ts';
import { testRepository } from '../../../support/repository.ts';
import { mainPage, pagePath } from '../../../support/sample.ts';
import { originRemote, startTestService } from '../../../support/service.ts';
import { sharedRepository } from '../../../support/shared-repository.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { issueTestToken, updateRequest } from '../../../support/token.ts';

describe('the password in the address of a remote', () => {
  it('is in no log line, no probe, no metric and no answer, however the remote fails', async () => {
    const shared = sharedRepository({ [pagePath('1')]: mainPage() });
    const server = await startGitServer(dirname(shared.folder), ['shared.git']);
    const clone = shared.clone();
    const token = await issueTestToken(clone.folder, '1');
    const address = `${server.address.replace('//', '//homer:s3cr%40t%2Fword@')}/shared.git`;
    const env = { ...originRemote, BOTSHELF_REMOTE: address, BOTSHELF_ACK: 'remote' };
    const service = await startTestService({}, { root: clone.folder, env });
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
      const update = updateRequest(token, { website: `https://a.example/${mode}` });
      seen.push(await get('/api/v2/bots/1', update), await get('/readyz'), await get('/metrics'));
    }
    await service.stop();
    seen.push(service.log());
    for (const text of seen) strictEqual(/homer|s3cr|word@/.exec(text)?.[0], undefined, text);
  });
});

/** A user that owns nothing. */
const nobody = 65534;

/**
 * A clone that belongs to somebody else. Only root can give one away: for others a git before the real one makes that
 * take the clone for somebody else's, by the switch that Git's own tests use.
 */
function cloneOfOthers(): { folder: string; env: Readonly<Record<string, string>> } {
  const { folder } = testRepository({ [pagePath('1')]: mainPage() });
  const path = process.env['PATH'] ?? '';
  if (process.getuid?.() === 0) {
    for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
      chownSync(join(folder, name), nobody, nobody);
    return { folder, env: { PATH: path } };
  }
  const programs = join(tempFolder(), 'bin');
  mkdirSync(programs);
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const script = `#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec ${git} "$@"\n`;
  writeFileSync(join(programs, 'git'), script, { mode: 0o755 });
  return { folder, env: { PATH: `${programs}:${path}` } };
}

const whoAndWhat =
  /^(\S+) belongs to .*uid \d+\)?, and this runs as .*uid (\d+)\)?: run it as .*uid \d+\)?(?:, or change the owner of the folder \(chown -R (?!0 )\2 \1\))?$/;

describe('a clone that belongs to another user', () => {
  it('is refused by the commands in one line: whose it is, who runs this, and what to do', async () => {
    const { folder, env } = cloneOfOthers();
    for (const args of ['token 1', 'check --base HEAD', 'serve']) {
      const { code, stdout, stderr } = await botshelf(folder, args.split(' '), { env });
      deepStrictEqual([code, stdout], [2, '']);
      match(stderr.trimEnd(), whoAndWhat);
    }
    ok(!existsSync(join(folder, 'var')), 'nothing is written that its owner could not write later');
  });
});
