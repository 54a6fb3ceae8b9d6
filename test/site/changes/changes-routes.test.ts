import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { type TestRepository, testRepository } from '../../support/repository.ts';
import { commandsPath, mainPage, pagePath, translation } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { issueTestToken } from '../../support/token.ts';
import { childrenOf, parseXml, textsOf } from '../../support/xml.ts';

const invite = 'https://discord.com/oauth2/authorize?scope=bot&client_id=7&permissions=';

const website = 'https://homer.example/a?b=';

describe('what changed in a bot', () => {
  let repository: TestRepository;
  let service: TestService;
  let commit: string;
  before(async () => {
    repository = testRepository({
      [pagePath('7')]: mainPage({ invite: `${invite}3072`, website: `${website}1` }),
      [pagePath('8')]: mainPage(),
    });
    repository.git('remote', 'add', 'origin', 'https://github.com/example/catalogue.git');
    const commands = { [commandsPath('7')]: '{"commands": []}' };
    const keys = { category: 'music', name: 'Homer <b>', website: `${website}2` };
    const changed = { invite: `${invite}19464`, ...keys };
    const now = Math.floor(Date.now() / 1000);
    [, commit = ''] = repository.commitAll([
      { files: { [pagePath('7', 'de')]: translation('Homer', 'Ja.'), ...commands }, at: now + 1 },
      { files: { [pagePath('7')]: mainPage(changed) }, at: now + 2 },
    ]);
    service = await startTestService({}, { root: repository.folder });
    service.expectLog(/BOTSHELF_REMOTE is not set/);
    await eventually(async () => strictEqual((await service.request(api)).status, 200));
  });

  const api = '/api/v2/bots/7/changes';
  const read = async (path: string): Promise<string> => {
    const response = await fetch(service.address + path, { headers: { Accept: 'text/html, application/*' } });
    strictEqual(response.status, 200);
    return await response.text();
  };

  it('is on a page, in words, with who, when and the files at the host', async () => {
    const page = await read('/bots/7/changes');
    match(page, /<title>What changed in Homer &lt;b> · /);
    match(page, /<ins class="harm">Administrator<\/ins>[^]*<ins>Embed links<\/ins>/);
    match(page, /<del>[^<]*a\?b=1<\/del>\n<span[^]*?<ins>https:\/\/homer\.example\/a\?b=2<\/ins>/);
    match(page, /<del>Fun<\/del> → .*<ins>Music<\/ins>/s);
    match(page, />Ada<\/bdi> · today/);
    match(page, new RegExp(`href="https://github.com/example/catalogue/commit/${commit}"`));
    match(page, /German<\/h3><p>Page added[^]*<dt>Commands<\/dt><dd>Edited/);
    match(page, /Listed here for the first time/);
    match(page, /rel="alternate" type="application\/atom\+xml" title="What changed in Homer/);
  });

  it('is on the page of the bot as far as it matters for trust', async () => {
    match(await read('/bots/7'), /Asks for full control of your server since /);
    match(await read('/bots/7'), /href="\/bots\/7\/changes"/);
    strictEqual((await read('/bots/8')).includes('Changed in the last'), false);
  });

  it('is in the API and in a feed', async () => {
    const { json } = await service.request(api);
    deepStrictEqual(json[0], {
      commit,
      at: json[0].at,
      by: { kind: 'person', name: 'Ada' },
      newBot: false,
      otherBot: false,
      permissions: { added: ['administrator', 'embedLinks'], removed: [] },
      pages: [
        {
          locale: 'en',
          state: 'edited',
          fields: [
            { name: 'invite', before: `${invite}3072`, after: `${invite}19464` },
            { name: 'name', before: 'Homer', after: 'Homer <b>' },
            { name: 'category', before: 'fun', after: 'music' },
            { name: 'website', before: `${website}1`, after: `${website}2` },
          ],
        },
      ],
      commands: false,
    });
    strictEqual((await service.request(`${api}?after=${json[1].commit}`)).json.length, 1);
    deepStrictEqual((await service.request(`${api}?after=x`)).json, []);
    strictEqual((await service.request(`${api}?before=x`)).status, 400);
    const feed = parseXml(await read('/feeds/bot/7.atom'));
    deepStrictEqual(
      childrenOf(feed, 'entry').map((entry) => [...textsOf(entry, 'title'), ...textsOf(entry, 'summary')]),
      [
        [
          'Homer <b>: Asks for full control of your server, Invite link, Name, Category, Website',
          `Invite link: ${invite}3072 → ${invite}19464\nName: Homer → Homer <b>\nCategory: Fun → Music\nWebsite: ${website}1 → ${website}2`,
        ],
        ['Homer <b>: German: Page added, Commands', 'Commands: Edited'],
        ['Homer <b>: Listed here for the first time'],
      ],
    );
    const [entry] = childrenOf(feed, 'entry');
    strictEqual(entry && textsOf(entry, 'id')[0], `urn:botshelf:change:${json[0].commit}:7`);
    deepStrictEqual(entry && childrenOf(entry, 'author').map((author) => textsOf(author, 'name')), [['Ada']]);
    strictEqual((await service.request('/api/v2/bots/9/changes')).status, 404);
  });

  it('follows posts and commits by hand, and a deleted index @long', async () => {
    const token = await issueTestToken(repository.folder, '8');
    strictEqual((await service.post('8', token, { category: 'games' })).status, 200);
    await eventually(async () => match(await read('/bots/8/changes'), /Through the API/));
    rmSync(join(repository.folder, 'var/changes'), { recursive: true });
    repository.commit({ [pagePath('8')]: mainPage({ nsfw: true }) });
    await eventually(async () => match(await read('/bots/8'), /For adults only \(18\+\) since/));
    match(await read('/bots/8/changes'), /Through the API/);
  });
});
