import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import type { BotListElement } from '../../schemas/types.ts';
import { parseCommitAuthor } from '../../src/bot/commit-message.ts';
import { readCases, unquote } from '../support/fixture-lines.ts';
import { botshelf } from '../support/command-line.ts';
import { commitCounts } from '../support/counts.ts';
import { eventually } from '../support/eventually.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { commandsPath, mainPage, pagePath, translation } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { sharedRepository } from '../support/shared-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestTokens } from '../support/token.ts';

const now = Date.now() / 1000;
const day = 86_400;

function page(id: string, keys: Readonly<Record<string, unknown>> = {}): string {
  return mainPage({ name: `Bot ${id}`, ...keys });
}

function invite(permissions: bigint): string {
  return `https://discord.com/oauth2/authorize?client_id=1&scope=bot&permissions=${permissions}`;
}

const files = {
  [pagePath('7')]: page('7', { category: 'games', authors: ['5', '6'], invite: invite(8n) }),
  [pagePath('7', 'de')]: translation('Sieben', 'Spielt Karten.'),
  [pagePath('12')]: page('12', { category: 'music', authors: ['5'], invite: invite(16n) }),
  [pagePath('100')]: page('100', { category: 'games', created: Math.round((now - 10 * day) * 1000) }),
  [pagePath('30')]: page('30', { name: 'A\u202Eb', verified: true }),
};

/** Four bots, of which two have counts. */
function catalogue(): TestRepository {
  const repository = testRepository(files);
  commitCounts(repository.folder, [
    { time: Math.round(now - 100 * day), counts: { 7: 1234 } },
    { time: Math.round(now - day), counts: { 12: 5 } },
  ]);
  return repository;
}

describe('botshelf bots', () => {
  let shared: TestRepository;
  before('make a catalogue', () => {
    shared = catalogue();
  });

  const age = `The last count is from ${new Date(Math.round(now - day) * 1000).toISOString()}.\n`;
  const withoutMs = (text: string): string => text.replace(/\.\d+(?=Z)/, '.000');

  const listIds = async (...args: readonly string[]): Promise<string[]> => {
    const { code, stdout, stderr } = await botshelf(shared.folder, ['bots', '--format', 'ids', ...args]);
    const none = stdout === '' ? 'No bot was found.\n' : '';
    deepStrictEqual([code, withoutMs(stderr)], [0, /active/.test(String(args)) ? age + none : none]);
    return stdout.split('\n').slice(0, -1);
  };

  it('prints a table in the order of the ids, without control characters', async () => {
    const { code, stdout } = await botshelf(shared.folder, ['bots']);
    strictEqual(code, 0);
    const date = (ago: number): string => new Date((now - ago * day) * 1000).toISOString().slice(0, 10);
    strictEqual(
      stdout,
      [
        'ID   CATEGORY  SERVERS  LAST REPORT  AUTHORS             NAME',
        `7    games     1,234    ${date(100)}   5 +1                Bot 7`,
        `12   music     5        ${date(1)}   5                   Bot 12`,
        '30   fun       -        never        190519304972664832  A b',
        '100  games     -        never        190519304972664832  Bot 100',
        '',
      ].join('\n'),
    );
  });

  it('prints the elements of the list as JSON', async () => {
    const { stdout } = await botshelf(shared.folder, ['bots', '7', '12', '--format', 'json']);
    const elements = JSON.parse(stdout) as BotListElement[];
    deepStrictEqual(
      elements.map(({ id, category, contents }) => [id, category, ...Object.keys(contents)].join(' ')),
      ['7 games en de', '12 music en'],
    );
  });

  for (const { title, input, expected } of readCases('bot-filters'))
    it(`lists bots by ${title} @slow`, async () =>
      strictEqual((await listIds(...input.split(/ (?!Channels)/))).join(' '), expected[0]));

  it('refuses values that mean nothing, all at once, and names those that do', async () => {
    const args = ['bots', 'x', '--category', 'nope', '--inactive', '9', '--asks', 'power', '--author', 'me'];
    const { code, stdout, stderr } = await botshelf(shared.folder, args);
    deepStrictEqual([code, stdout], [2, '']);
    match(stderr, /^category: "nope" is not a category: use moderation, /m);
    match(stderr, /^author: "me" is not an account id/m);
    match(stderr, /^"x" is not a bot id/m);
    match(stderr, /^--inactive: .*90d$/m);
    match(stderr, /^--asks: .*: use administrator, manageServer, /m);
    match((await botshelf(shared.folder, ['bots', '8'])).stderr, /^there is no bot 8 /);
  });

  it('changes nothing without a filter, a reason or --yes', async () => {
    const tip = shared.git('rev-parse', 'HEAD');
    for (const { input, expected } of readCases('bots-unchanged')) {
      const [code, ...said] = expected;
      const run = await botshelf(shared.folder, ['bots', ...unquote(input).split(' ')]);
      strictEqual(run.code, Number(code), input);
      ok(run.stderr.endsWith(`${said.join('\n')}\n`), run.stderr);
    }
    const env = { BOTSHELF_READ_ONLY: 'on', BOTSHELF_REMOTE: 'origin' };
    const copy = await botshelf(shared.folder, ['bots', '7', '--set', 'nsfw=true', '--yes'], { env });
    deepStrictEqual([copy.code, copy.stdout], [2, '']);
    match(copy.stderr, /^a read-only copy cannot be changed/);
    strictEqual(shared.git('rev-parse', 'HEAD'), tip);
  });
});

describe('botshelf bots by counts', () => {
  const inactive = ['bots', '--inactive', '90d', '--format', 'ids'];

  it('fetches those that a plain clone does not have, and refuses if the remote cannot be asked', async () => {
    const remote = sharedRepository(files);
    commitCounts(remote.folder, [{ time: Math.round(now - day), counts: { 7: 1 } }]);
    const clone = remote.clone();
    const run = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await botshelf(clone.folder, args);
      return `${code} ${stdout}${stderr}`;
    };
    match(await run(...inactive), /^0 12\n30\nThe last count is from /);
    match(await run('bots', '--active', '7d', '--format', 'ids'), /^0 7\nThe last count is from /);
    const address = clone.git('remote', 'get-url', 'origin');
    clone.git('remote', 'set-url', 'origin', `${address}.gone`);
    const refusal =
      /^2 the counts cannot be read \(.*\.gone.*\): run this again once “git fetch origin refs\/botshelf\/state:refs\/botshelf\/state” works\n$/;
    match(await run(...inactive), refusal);
    match(await run('bots', '--active', '7d', '--remove', '--reason', 'x', '--yes'), refusal);
    clone.git('remote', 'rename', 'origin', 'upstream');
    match(await run(...inactive), /^2 the counts cannot be read \(.*\.gone/);
    clone.git('remote', 'add', 'other', address);
    match(await run(...inactive), /^2 the clone has several remotes: set BOTSHELF_REMOTE/);
    strictEqual(await run('bots', '7', '--format', 'ids'), '0 7\n');
  });

  it('refuses where there are none', async () => {
    const { folder } = testRepository(files);
    const { code, stderr } = await botshelf(folder, inactive);
    strictEqual(code, 2);
    match(stderr, /^no bot has a count here: set BOTSHELF_REMOTE to the repository that has them\n$/);
    const env = { BOTSHELF_REMOTE: sharedRepository(files).folder };
    match((await botshelf(folder, inactive, { env })).stderr, /^no bot has a count here or at \/.+\n$/);
    const plain = tempFolder(files);
    match((await botshelf(plain, inactive)).stderr, /^the counts cannot be read \(.* is in no Git/);
  });
});

describe('a change of more than 20 bots', () => {
  const ids = Array.from({ length: 21 }, (_, i) => String(200 + i));

  it('is made with the number of the preview only, by botshelf bots and block', async () => {
    const { folder, git } = testRepository(Object.fromEntries(ids.map((id) => [pagePath(id), page(id)])));
    const tip = git('rev-parse', 'HEAD');
    const all = ['bots', '--all', '--set', 'nsfw=true'];
    const block = ['block', 'account', '190519304972664832', '--remove'];
    strictEqual((await botshelf(folder, all)).stderr, '21 bots would be changed: pass --yes 21 to do it.\n');
    match((await botshelf(folder, block)).stderr, /21 bots would be removed, .*: pass --yes 21 to do it\.\n/);
    for (const args of [all, block])
      for (const number of [[], ['20'], ['x']]) {
        const { code, stdout, stderr } = await botshelf(folder, [...args, '--yes', ...number]);
        deepStrictEqual([code, stdout], [2, '']);
        match(stderr, /^this changes 21 bots(?:, and --yes is about (?:20|x))?: .* with --yes 21\n/);
      }
    strictEqual(git('rev-parse', 'HEAD'), tip);
    match((await botshelf(folder, [...all, '--yes', '21'])).stderr, /^21 bots changed\.\n$/);
    match((await botshelf(folder, [...block, '--yes', '21'])).stderr, /is blocked\. 21 bots removed/);
  });

  it('needs no number for 20, but the right one if it has any', async () => {
    const { folder } = testRepository(Object.fromEntries(ids.slice(1).map((id) => [pagePath(id), page(id)])));
    const all = ['bots', '--all', '--set', 'nsfw=true', '--yes'];
    strictEqual((await botshelf(folder, [...all, '19'])).code, 2);
    strictEqual((await botshelf(folder, all)).stderr, '20 bots changed.\n');
  });
});

describe('botshelf bots --set', () => {
  it('sets keys in one commit of its user, and says what changes', async () => {
    const repository = testRepository(files);
    const args = 'bots --author 5 --set category=music --set website=null --set nsfw=true'.split(' ');
    const dry = await botshelf(repository.folder, args);
    match(
      dry.stdout,
      /^Bot 7 \(7\): category "games" → "music", nsfw false → true\nBot 12 \(12\): nsfw .*\n$/,
    );
    const { code, stdout } = await botshelf(repository.folder, [...args, '--yes', '--reason', 'Sorted']);
    deepStrictEqual([code, stdout], [0, dry.stdout]);
    strictEqual(repository.status(), '');
    const message = repository.git('log', '-1', '--format=%B');
    match(
      message,
      /^Update 2 bots\n\nSorted\n\n- Bot 7 \(7\): category, nsfw\n- Bot 12 \(12\): nsfw\n\nBot: 7\nBot: 12\nChanged-by: \S+$/,
    );
    const commit = repository.git('cat-file', 'commit', 'HEAD');
    strictEqual(parseCommitAuthor(commit, 'Botshelf <botshelf@localhost>').kind, 'person');
    match(repository.read(pagePath('7')), /"category": "music"[^]*"edited": \d{13}/);
    const again = await botshelf(repository.folder, [...args, '--yes']);
    deepStrictEqual([again.code, again.stdout, again.stderr], [0, '', '0 bots changed.\n']);
  });

  it('is refused as a whole where a page would not fit the rules @slow', async () => {
    const repository = testRepository(files);
    const tip = repository.git('rev-parse', 'HEAD');
    const run = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await botshelf(repository.folder, ['bots', '--all', '--yes', ...args]);
      deepStrictEqual([code, stdout], [2, '']);
      return stderr;
    };
    const faults = await run('--set', 'category=spam');
    for (const id of ['7', '12', '30', '100'])
      match(faults, new RegExp(`^${pagePath(id).replaceAll('.', '\\.')}: category: `, 'm'));
    match(faults, /This change was not made\.\n$/);
    match(await run('--set', 'created=1'), /created cannot be set/);
    match(await run('--set', 'edited=1'), /edited cannot be set/);
    match(await run('--set', 'colour=red'), /colour/);
    match(await run('--set', '__proto__=1'), /__proto__/);
    strictEqual(repository.git('rev-parse', 'HEAD'), tip);
  });

  it('names 50 faults and how many more there are, in 1,000 characters each @slow', async () => {
    const ids = Array.from({ length: 52 }, (_, i) => String(200 + i));
    const { folder } = testRepository(Object.fromEntries(ids.map((id) => [pagePath(id), page(id)])));
    const run = async (values: readonly string[]): Promise<string[]> => {
      const args = values.flatMap((value) => ['--set', value]);
      const { stdout, stderr } = await botshelf(folder, ['bots', '--all', ...args]);
      return (stdout || stderr).split('\n').slice(0, -1);
    };
    const wrong = Array.from({ length: 20 }, (_, i) => `key${i}=${'a'.repeat(80)}`);
    const faults = await run(wrong);
    deepStrictEqual([faults[0]?.length, faults[49]?.length], [1000, 1000]);
    deepStrictEqual(faults.slice(50), ['and 2 more', 'This change was not made.']);
  });

  it('names the files with uncommitted edits that it would change, and commits nothing', async () => {
    const repository = testRepository(files);
    const tip = repository.git('rev-parse', 'HEAD');
    const edited = repository.read(pagePath('7')).replace('Bot 7', 'Seven');
    repository.write(pagePath('7'), edited);
    repository.write(pagePath('12'), repository.read(pagePath('12')).replace('Bot 12', 'Twelve'));
    const all = 'bots --all --set nsfw=true --yes'.split(' ');
    const refusal = `${pagePath('7')} has uncommitted edits: commit or discard them (and 1 other file)`;
    const stderr = `${refusal}\nThis change was not made.\n`;
    deepStrictEqual(await botshelf(repository.folder, all), { code: 2, stdout: '', stderr });
    strictEqual(repository.git('rev-parse', 'HEAD'), tip);
    strictEqual((await botshelf(repository.folder, ['bots', '100', '--set', 'nsfw=true', '--yes'])).code, 0);
    strictEqual(repository.read(pagePath('7')), edited);
  });
});

describe('botshelf bots --remove', () => {
  it('removes all pages in one commit and ends the tokens, beside a service that takes counts @slow', async () => {
    const repository = testRepository({ ...files, [commandsPath('7')]: '{"commands": []}' });
    const { folder: root } = repository;
    const [gone = '', kept = ''] = (await issueTestTokens(root, ['7', '100'])).values();
    const service = await startTestService({}, { root });
    const post = async (id: string, token: string, count: number): Promise<number> =>
      (await service.post(id, token, { count })).status;
    strictEqual(await post('7', gone, 1), 200);
    const reason = 'Spam\n\nBot: 100\nChanged-by: nobody';
    const removing = botshelf(root, ['bots', '--author', '5', '--remove', '--reason', reason, '--yes']);
    const counts = Array.from({ length: 20 }, (_, i) => i);
    const posted = await Promise.all(counts.map(async (count) => await post('100', kept, count)));
    deepStrictEqual(new Set(posted), new Set([200]));
    const stdout = 'Bot 7 (7): 2 pages\nBot 12 (12): 1 page\n';
    deepStrictEqual(await removing, { code: 0, stdout, stderr: '2 bots removed.\n' });
    strictEqual(repository.status() + repository.git('ls-files', 'bots/007'), '');
    match(
      repository.git('log', '-1', '--format=%B'),
      /^Remove 2 bots\n\nSpam Bot： 100 Changed-by： nobody\n\n- Bot 7 \(7\)\n- Bot 12 \(12\)\n\nBot: 7\nBot: 12\nChanged-by: (?!nobody)\S+$/,
    );
    repository.git('revert', '--no-edit', 'HEAD');
    await eventually(async () => strictEqual((await service.request('/api/v2/bots/7')).status, 200));
    strictEqual(await post('7', gone, 2), 401);
    strictEqual(await post('100', kept, 3), 200);
  });
});
