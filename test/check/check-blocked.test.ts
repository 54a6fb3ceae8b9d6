import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { botshelf } from '../support/command-line.ts';
import {
  catalogueOfTwo,
  check,
  checkChange,
  checkWorkTree,
  homer,
  pullRequest,
} from '../support/pull-request.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const [author, other] = ['234567890123456789', '345678901234567890'];
const reason = 'Sells stolen accounts';
const page = (changes: Readonly<Record<string, unknown>> = {}): string =>
  mainPage({ authors: [author], ...changes });

/** Writes a file outside of the catalogue, and returns the environment that names it. */
function privateFile(content: string): Readonly<Record<string, string>> {
  const folder = tempFolder({ 'who.json': content });
  return { BOTSHELF_BLOCKED: join(folder, 'who.json') };
}

describe('botshelf check of a catalogue that blocks somebody', () => {
  const files = {
    [pagePath('77')]: page({
      authors: [other, author],
      images: { preview: ['https://cdn.blocked.example/a.png'] },
    }),
    [pagePath('78')]: mainPage({ authors: [other] }),
    [pagePath('79')]: mainPage({ authors: [other] }),
    [pagePath('79', 'fr')]: translation('A', 'B'),
  };
  const blocked = JSON.stringify({
    accounts: { [author]: { reason, since: '2026-11-22' } },
    bots: { 79: { reason } },
    hosts: { 'blocked.example': { reason } },
  });

  it('says no reason of a file outside of the catalogue, which is used in its place', async () => {
    const root = tempFolder({ ...files, 'blocked.json': '{ "bots": { "78": {} } }' });
    for (const format of ['text', 'github', 'json']) {
      const { code, stdout } = await botshelf(root, ['check', `--format=${format}`], {
        env: privateFile(blocked),
      });
      strictEqual(code, 1);
      match(stdout, /this list takes nothing with the account 234567890123456789: remove it, or write to/);
      match(stdout, /with the bot 79/);
      ok(!stdout.includes(reason) && !stdout.includes('2026-11-22') && !stdout.includes('78.en'));
    }
    const env = privateFile(`{ "accounts": { "${author}": { "reason": "${reason}\\n" } } }`);
    const { code, stderr } = await botshelf(root, ['check'], { env });
    strictEqual(code, 2);
    match(stderr, /BOTSHELF_BLOCKED:1:51 .*breaks this rule/);
    ok(!stderr.includes(reason) && !stderr.includes(author));
    const gone = { BOTSHELF_BLOCKED: join(tempFolder(), 'gone.json') };
    match((await botshelf(root, ['check'], { env: gone })).stderr, /there is no such file: create it/);
  });

  it('checks the file itself, and format leaves it alone while it is faulty', async () => {
    const root = tempFolder({ ...files, 'blocked.json': '{\n  "host": {}\n}\n' });
    const { stdout } = await botshelf(root, ['check']);
    match(stdout, /^\.\/blocked\.json:2:3 additionalProperties host: "host" is not a key: write "hosts"$/m);
    match(stdout, /^5 files, 1 fault$/m);
    match((await botshelf(root, ['format'])).stdout, /blocked\.json:2:3 .*\n.* 1 left alone/);
  });
});

describe('botshelf check of a pull request in a catalogue that blocks somebody', () => {
  const settings = `{ "accounts": { "${author}": { "reason": "${reason}" } } }`;
  const newBot = { [pagePath('80')]: page({ name: 'New', invite: 'https://example.net/80' }) };

  it('refuses a bot that is new or changed with somebody blocked, and leaves the others alone @slow', async () => {
    const repo = catalogueOfTwo({ [pagePath('77')]: page(), 'blocked.json': settings });
    pullRequest(repo, { [pagePath(homer)]: mainPage({ authors: [other] }, 'More.') });
    ok((await check(repo)).passes);
    pullRequest(repo, { [pagePath('77')]: page({ name: 'Other' }) });
    deepStrictEqual((await check(repo)).found, ['bots/077/77.en.md blocked error']);
    pullRequest(repo, newBot);
    const withHead = await check(repo);
    repo.git('switch', '-q', 'pull');
    for (const { found, text } of [withHead, await checkWorkTree(repo.folder)]) {
      deepStrictEqual(found, ['bots/080/80.en.md blocked error']);
      match(text, /^bots\/080\/80\.en\.md:\d+:\d+ blocked .+ 234567890123456789 is blocked \(Sells stolen/m);
    }
    const args = ['check', '--base=main', '--head=pull'];
    const { code, stdout } = await botshelf(repo.folder, args, { env: privateFile(settings) });
    strictEqual(code, 1);
    ok(stdout.includes('this list takes nothing with the account') && !stdout.includes(reason));
  });

  it('points out a change of the file, and checks it @slow', async () => {
    for (const [content, finding] of [
      ['{ "bots": {} }', 'checks-changed warning'],
      ['{ "bots": [] }', 'type error'],
    ] as const)
      deepStrictEqual((await checkChange({ 'blocked.json': content })).found, [`blocked.json ${finding}`]);
  });

  it('fails while the file has a fault that the branch had before, as nobody can tell who is blocked', async () => {
    const repo = catalogueOfTwo({ 'blocked.json': '{' });
    pullRequest(repo, newBot);
    deepStrictEqual((await check(repo)).found, ['blocked.json json error']);
  });
});
