import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readUserName } from '../../src/app/config.ts';
import { botshelf } from '../support/command-line.ts';
import { repositoryIn } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { sharedRepository } from '../support/shared-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('botshelf token', () => {
  it('ends with 2 and the fix where there is no such bot, id or repository', async () => {
    const plain = tempFolder({ [pagePath('7')]: mainPage() });
    for (const [root, id, fix] of [
      [tempFolder(), '7', /^there is no bot 7 in \S+: add its page first, or set BOTSHELF_CATALOGUE\n$/],
      [plain, 'x', /pass 1 to 20 digits/],
      [plain, '7', /git init/],
    ] as const) {
      const { code, stdout, stderr } = await botshelf(root, ['token', id]);
      deepStrictEqual([code, stdout, stderr.includes('    at ')], [2, '', false]);
      match(stderr, fix);
    }
  });

  it('prints the token alone, which works at once and ends at once, when there is another or with --revoke @slow', async () => {
    const { root, post } = await startTestService({ [pagePath('7')]: mainPage() });
    const postCount = async (token: string): Promise<number> =>
      (await post('7', token.trim(), { count: 1 })).status;
    const { stdout: first } = await botshelf(root, ['token', '7']);
    match(first, /^bsh_[0-9A-Za-z]{49}\n$/);
    strictEqual(await postCount(first), 200);
    const { stdout: second } = await botshelf(root, ['token', '7']);
    deepStrictEqual([await postCount(first), await postCount(second)], [401, 200]);
    const { code, stdout } = await botshelf(root, ['token', '7', '--revoke']);
    deepStrictEqual([code, stdout, await postCount(second)], [0, '', 401]);
  });
});

describe('botshelf token and revoke', () => {
  it('take several bots, or none if one has no page, and Git keeps who it was @slow', async () => {
    const files = { [pagePath('7')]: mainPage(), [pagePath('8')]: mainPage() };
    const service = await startTestService(files);
    const { root } = service;
    strictEqual((await botshelf(root, ['token', '7', '9'])).code, 2);
    const { code, stdout, stderr } = await botshelf(root, ['token', '8', '7', '8']);
    deepStrictEqual([code, stderr], [0, '']);
    const [, second = '', first = ''] = /^8 (\S+)\n7 (\S+)\n$/.exec(stdout) ?? [];
    for (const [id, token] of Object.entries({ 7: first, 8: second }))
      strictEqual((await service.post(id, token, { count: 1 })).status, 200);
    const revoked = await botshelf(root, ['revoke', '7', '9', '8']);
    strictEqual(revoked.stderr, 'The token of 7 has ended.\n9 had no token.\nThe token of 8 has ended.\n');
    strictEqual((await service.post('7', first, { count: 2 })).status, 401);
    const by = `by user ${readUserName()}`;
    const { git } = repositoryIn(root);
    deepStrictEqual(
      git('log', '--reverse', '--format=%s', '--grep= token', 'refs/botshelf/state').split('\n'),
      [`Issue a token to 8, ${by}`, `Issue a token to 7, ${by}`, `Revoke the tokens of 7, 8, ${by}`],
    );
    for (const token of [first, second]) ok(!service.log().includes(token));
  });
});

describe('a command that revokes tokens', () => {
  const remote = { BOTSHELF_REMOTE: 'origin' };
  const fetchedOnce = 'refs/botshelf/remote/base-main';
  const [revoke, remove] = ['revoke 7', 'bots 7 --remove --reason Spam --yes'];
  const cases = [
    [revoke, 'the remote is away', fetchedOnce, remote, 'The remote cannot be reached', 1000],
    [revoke, 'the remote is away, in a new clone', null, remote, 'The remote cannot be reached', 1_000_000],
    [revoke, 'the clone has one, none is set', fetchedOnce, {}, 'BOTSHELF_REMOTE is not set', 1000],
    [remove, 'the remote is away', fetchedOnce, remote, 'The remote cannot be reached', 1000],
  ] as const;
  for (const [command, when, ref, env, why, generation] of cases)
    it(`ends one that its clone does not know when ${when}: ${command}`, async () => {
      const shared = sharedRepository({ [pagePath('7')]: mainPage() });
      const [a, b] = [shared.clone(), shared.clone()];
      const address = b.git('remote', 'get-url', 'origin');
      if (ref) b.git('update-ref', ref, 'HEAD');
      strictEqual((await botshelf(a.folder, ['token', '7'], { env: remote })).code, 0);
      b.git('remote', 'set-url', 'origin', `${address}.gone`);
      const { code, stderr } = await botshelf(b.folder, command.split(' '), { env });
      strictEqual(code, 0);
      const then =
        'other machines follow when the service has pushed this, and tokens that they issued meanwhile end';
      ok(stderr.includes(`${why}: ${then}.\n`), stderr);
      b.git('remote', 'set-url', 'origin', address);
      const again = await botshelf(b.folder, ['revoke', '7'], { env: remote });
      strictEqual(again.stderr, '7 had no token.\n');
      const state = shared.git('show', 'refs/botshelf/state:00/07.json');
      match(state, new RegExp(`"7":\\{"token":null,"tokenAt":\\d+,"tokenGen":${generation}\\}`));
    });
});
