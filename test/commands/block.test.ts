import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readCases } from '../support/fixture-lines.ts';
import { botshelf } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestTokens } from '../support/token.ts';

const today = new Date().toISOString().slice(0, 10);

function catalogue(): TestRepository {
  return testRepository({
    [pagePath('7')]: mainPage({ name: 'Seven', authors: ['5', '6'] }),
    [pagePath('7', 'de')]: translation('Sieben', 'Spielt Karten.'),
    [pagePath('12')]: mainPage({ name: 'Twelve', authors: ['5'], website: 'https://www.bad.example/' }),
    [pagePath('100')]: mainPage({
      name: 'Hundred',
      authors: ['8'],
      images: { preview: ['https://bad.example/a.png'] },
    }),
  });
}

describe('botshelf block', () => {
  it('commits who is blocked, sorted, lists the bots, and takes it back @slow', async () => {
    const { folder, git, read, status } = catalogue();
    const run = async (...args: readonly string[]): Promise<readonly unknown[]> => {
      const { code, stdout, stderr } = await botshelf(folder, args);
      return [code, stdout, stderr];
    };
    deepStrictEqual(await run('block', 'account', '5', '--reason', 'Spam'), [
      0,
      'Seven (7)\nTwelve (12)\n',
      'The account 5 is blocked. 2 bots still listed: --remove removes them, and ends their tokens.\n',
    ]);
    match(git('log', '-1', '--format=%B'), /^Block the account 5\n\nChanged-by: \S+$/);
    deepStrictEqual(await run('block', 'host', 'https://BAD.example./join?a=b'), [
      0,
      'Twelve (12)\nHundred (100)\n',
      'The host bad.example is blocked. 2 bots still listed: --remove removes them, and ends their tokens.\n',
    ]);
    deepStrictEqual(await run('block', 'account', '10'), [0, '', 'The account 10 is blocked.\n']);
    deepStrictEqual(JSON.parse(read('blocked.json')), {
      accounts: { 5: { reason: 'Spam', since: today }, 10: { since: today } },
      hosts: { 'bad.example': { since: today } },
    });
    ok(!(await botshelf(folder, ['format', '--check'])).stdout.includes('blocked.json'));
    match((await botshelf(folder, ['token', '12'])).stdout, /^bsh_/);
    deepStrictEqual(await run('unblock', 'account', '5'), [0, '', 'The account 5 is no longer blocked.\n']);
    ok(!read('blocked.json').includes('Spam'));
    deepStrictEqual(await run('unblock', 'account', '5'), [2, '', 'the account 5 is not blocked\n']);
    await run('block', 'bot', '12', '--reason', 'Lies');
    const [code, , why] = await run('token', '12');
    deepStrictEqual([code, why], [2, 'the bot 12 is blocked (Lies): remove it here, or from blocked.json\n']);
    strictEqual(status(), '');
  });

  it('keeps the date and, unless another is given, the reason of who is blocked already @slow', async () => {
    const { folder, read, commit } = catalogue();
    const spam = { reason: 'Spam', since: '2020-01-01' };
    commit({ 'blocked.json': JSON.stringify({ accounts: { 9: spam, 10: spam } }) });
    await botshelf(folder, ['block', 'account', '9']);
    await botshelf(folder, ['block', 'account', '10', '--reason', 'Lies']);
    deepStrictEqual(JSON.parse(read('blocked.json')), {
      accounts: { 9: spam, 10: { ...spam, reason: 'Lies' } },
    });
  });

  it('refuses what the file may not have, a file with edits or faults and a read-only copy, and commits nothing @slow', async () => {
    const { folder, git, write, commit } = catalogue();
    commit({ 'blocked.json': '{}\n' });
    const tip = git('rev-parse', 'HEAD');
    let env: Readonly<Record<string, string>> = { BOTSHELF_READ_ONLY: 'on', BOTSHELF_REMOTE: 'origin' };
    const refuse = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await botshelf(folder, args, { env });
      deepStrictEqual([code, stdout], [2, ''], args.join(' '));
      return stderr;
    };
    const readOnly = 'a read-only copy cannot be changed: run this where the original is\n';
    strictEqual(await refuse('block', 'account', '5'), readOnly);
    env = {};
    for (const { input, expected } of readCases('block-refusals'))
      strictEqual(await refuse(...(JSON.parse(input) as string[])), `${expected.join('\n')}\n`);
    match(await refuse('block', 'account', '5', '--reason', 'x'.repeat(501)), /at most 500/);
    write('blocked.json', '{ }\n');
    match(await refuse('block', 'account', '5'), /blocked\.json/);
    strictEqual(git('rev-parse', 'HEAD'), tip);
    commit({ 'blocked.json': '{' });
    match(await refuse('block', 'account', '5', '--remove'), /blocked\.json:1:2 /);
    match(git('ls-files'), /bots\/012\/12\.en\.md/);
  });

  it('removes the bots and ends their tokens in a commit of its own, beside a service @slow', async () => {
    const repository = catalogue();
    const { folder: root } = repository;
    const tokens = await issueTestTokens(root, ['7', '12', '100']);
    const service = await startTestService({}, { root });
    const post = async (id: string): Promise<number> =>
      (await service.post(id, tokens.get(id) ?? '', { count: 5 })).status;
    for (const id of tokens.keys()) strictEqual(await post(id), 200);
    const before = repository.git('rev-list', '--count', 'HEAD');
    const args = 'block account 5 --reason Spam --remove --yes'.split(' ');
    const { code, stdout, stderr } = await botshelf(root, args);
    deepStrictEqual(
      [code, stdout, stderr],
      [0, 'Seven (7)\nTwelve (12)\n', 'The account 5 is blocked. 2 bots removed, 2 tokens ended.\n'],
    );
    strictEqual(Number(repository.git('rev-list', '--count', 'HEAD')), Number(before) + 2);
    match(repository.git('log', '-1', '--format=%B'), /^Remove 2 bots\n\nThe account 5 is blocked \(Spam\)/);
    deepStrictEqual(repository.git('show', '--name-only', '--format=', 'HEAD').split('\n').toSorted(), [
      'bots/007/7.de.md',
      'bots/007/7.en.md',
      'bots/012/12.en.md',
    ]);
    strictEqual(repository.status(), '');
    await eventually(async () => {
      strictEqual((await service.request('/api/v2/bots/7')).status, 404);
      strictEqual(await post('12'), 404);
    });
    strictEqual(await post('100'), 200);
    match(repository.git('log', '-1', '--format=%s', 'HEAD^'), /^Block the account 5$/);
    strictEqual((await botshelf(root, ['block', 'account', '9'])).code, 0);
    repository.git('revert', '--no-edit', 'HEAD^');
    await eventually(async () => strictEqual((await service.request('/api/v2/bots/7')).status, 200));
    strictEqual(await post('7'), 401);
  });

  it('says that it has blocked where it cannot remove a bot', async () => {
    const { folder, git, write, read } = catalogue();
    write(pagePath('7'), read(pagePath('7')).replace('Seven', 'Sieben'));
    const { code, stdout, stderr } = await botshelf(folder, 'block account 5 --remove --yes'.split(' '));
    const refusal = `${pagePath('7')} has uncommitted edits: commit or discard them\nThis change was not made.`;
    const said = `The account 5 is blocked, but not all is done about its bots: ${refusal}\n`;
    deepStrictEqual([code, stdout, stderr], [2, '', said]);
    strictEqual(git('log', '-1', '--format=%s'), 'Block the account 5');
  });

  it('only says what --remove would do without --yes, with the number of tokens @slow', async () => {
    const { folder, git, status } = catalogue();
    await issueTestTokens(folder, ['7']);
    const tip = git('rev-parse', 'HEAD', 'refs/botshelf/state');
    deepStrictEqual(await botshelf(folder, ['block', 'account', '5', '--remove']), {
      code: 0,
      stdout: 'Seven (7)\nTwelve (12)\n',
      stderr:
        'The account 5 would be blocked. 2 bots would be removed, and 1 token would end: pass --yes to do it.\n',
    });
    match((await botshelf(folder, ['block', 'account', '9', '--remove'])).stderr, /0 bots would be removed/);
    deepStrictEqual([git('rev-parse', 'HEAD', 'refs/botshelf/state'), status()], [tip, '']);
  });

  it('refuses a host that most of the bots have an address at @slow', async () => {
    const pages = Array.from({ length: 20 }, (_, i) => {
      const website = i < 11 ? { website: 'https://many.example/' } : {};
      return [pagePath(String(i + 1)), mainPage(website)] as const;
    });
    const { folder } = testRepository(Object.fromEntries(pages));
    const { code, stderr } = await botshelf(folder, ['block', 'host', 'many.example']);
    strictEqual(code, 2);
    match(stderr, /^11 bots of 20 have an address at many\.example: block accounts or bots instead\n$/);
  });

  it('lets no token be issued for a blocked bot under another id of its page @slow', async () => {
    const invite = 'https://discord.com/oauth2/authorize?scope=bot&client_id=12';
    const { folder } = testRepository({
      [pagePath('7')]: mainPage({ invite }),
      'blocked.json': '{ "bots": { "12": {} } }',
    });
    const { code, stderr } = await botshelf(folder, ['token', '7']);
    deepStrictEqual([code, /the bot 12 is blocked/.test(stderr)], [2, true]);
  });

  it('writes a private file, keeps its mode, and puts no reason into Git @long', async () => {
    const { folder, git } = catalogue();
    const outside = tempFolder({ 'who.json': '{"accounts":{"9":{"reason":"Old"}}}' });
    const file = join(outside, 'who.json');
    chmodSync(file, 0o640);
    const env = { BOTSHELF_BLOCKED: file };
    const tip = git('rev-parse', 'HEAD');
    strictEqual(
      (await botshelf(folder, ['block', 'host', 'bad.example', '--reason', 'Secret'], { env })).code,
      0,
    );
    strictEqual(git('rev-parse', 'HEAD'), tip);
    const remove = ['block', 'account', '5', '--reason', 'Secret', '--remove'];
    const before = readFileSync(file, 'utf8');
    match((await botshelf(folder, remove, { env })).stderr, /2 bots would be removed/);
    strictEqual(readFileSync(file, 'utf8'), before);
    const removal = await botshelf(folder, [...remove, '--yes'], { env });
    match(removal.stderr, /2 bots removed/);
    deepStrictEqual(JSON.parse(readFileSync(file, 'utf8')), {
      accounts: { 5: { reason: 'Secret', since: today }, 9: { reason: 'Old' } },
      hosts: { 'bad.example': { reason: 'Secret', since: today } },
    });
    strictEqual(statSync(file).mode & 0o777, 0o640);
    match(git('log', '-1', '--format=%B'), /^Remove 2 bots\n\n- /);
    strictEqual(git('log', '--all', '-S', 'Secret', '--format=%h'), '');
    const gone = { BOTSHELF_BLOCKED: join(outside, 'gone.json') };
    const { code, stderr } = await botshelf(folder, ['block', 'bot', '7'], { env: gone });
    strictEqual(code, 2);
    match(stderr, /there is no such file: create it, with \{\}/);
  });
});
