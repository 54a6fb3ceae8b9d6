import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { BotListElement, BotRecord } from '../../../src/bot/schema-types.ts';
import { parseDay, toDay, toDayPath } from '../../../src/counts/days.ts';
import { checkCatalogue } from '../../../src/check/check.ts';
import { createFolderSource } from '../../../src/check/source.ts';
import { mainFile } from '../../support/command-line.ts';
import { type DemoProcess, startDemo } from '../../support/demo.ts';
import { openProposals } from '../../support/proposals.ts';
import { Visitor } from '../../support/visitor.ts';
import { eventually } from '../../support/eventually.ts';
import { repositoryIn } from '../../support/repository.ts';
import { botId } from '../../support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { listenOnLoopback } from '../../support/loopback.ts';

describe('botshelf demo', function () {
  let demo: DemoProcess;
  let bots: readonly BotListElement[];
  before(async () => {
    // The settings of a real catalogue do not reach it.
    demo = await startDemo({ BOTSHELF_CATALOGUE: '/nowhere', BOTSHELF_REMOTE: 'origin' });
    // Bots that were read before the image cache was are built again.
    await eventually(async () => {
      bots = (await json('/api/v2/bots')) as BotListElement[];
      return bots.every(({ cachedImages }) => cachedImages.avatar !== null);
    });
  });

  const load = async (path: string): Promise<string> => await (await fetch(demo.address + path)).text();
  const json = async (path: string): Promise<unknown> => JSON.parse(await load(path)) as unknown;

  it('serves about 60 bots in at least 16 languages and all categories', () => {
    ok(bots.length >= 55, `${bots.length}`);
    ok(new Set(bots.flatMap(({ contents }) => Object.keys(contents))).size >= 16);
    strictEqual(new Set(bots.map(({ category }) => category)).size, 12);
  });

  it('has bots of every sort: verified, open source, for adults, of the same author, with HTML', async () => {
    ok(bots.some(({ verified }) => verified));
    ok(bots.some(({ codehost }) => codehost.repo !== null));
    strictEqual(bots.filter(({ nsfw }) => nsfw).length, 1);
    const authors = bots.flatMap(({ authors }) => authors);
    ok(authors.length - new Set(authors).size >= 5);
    const { id = '' } = bots.find(({ contents }) => contents['en']?.name === 'Showcase') ?? {};
    const record = (await json(`/api/v2/bots/${id}`)) as BotRecord;
    match(record.contents['en']?.page ?? '', /<table>/);
    match(await load(`/bots/${id}`), /<table/);
  });

  it('has a copy of every picture, so that it needs no network', async () => {
    for (const { images, cachedImages } of bots) {
      strictEqual(cachedImages.cover === null, images.cover === null);
      strictEqual(cachedImages.preview.length, images.preview.length);
    }
    const paths = bots.slice(0, 8).map(({ cachedImages }) => cachedImages.avatar ?? '');
    for (const path of paths) match(await load(path), /^RIFF/);
    strictEqual(demo.stderr(), '');
  });

  it('is marked as a demo on every page', async () => {
    for (const path of ['/', `/bots/${bots[0]?.id}`, '/add', '/docs', '/categories/music', '/nothing']) {
      const response = await fetch(demo.address + path, { headers: { accept: 'text/html' } });
      match(await response.text(), /This is a demo/, path);
    }
  });

  it('is a Git repository that the checker accepts, with 90 days of counts', async () => {
    const repository = repositoryIn(demo.folder);
    strictEqual(repository.status(), '');
    deepStrictEqual((await checkCatalogue(createFolderSource(demo.folder), 'everything')).findings, []);
    strictEqual(
      repository.git('ls-tree', '-r', '--name-only', 'refs/botshelf/state', 'days/').split('\n').length,
      90,
    );
  });

  it('has a history: bots were added and changed by people, through the API and by proposals', async () => {
    const { git } = repositoryIn(demo.folder);
    const commits = git('log', '--format=%s', 'main').trim().split('\n');
    strictEqual(commits.length, 1 + bots.length + 5);
    const changesOf = async (name: string): Promise<string> => {
      const { id = '' } = bots.find(({ contents }) => contents['en']?.name === name) ?? {};
      return await load(`/bots/${id}/changes?locale=en`);
    };
    await eventually(async () => match(await changesOf('Showcase'), /Administrator/));
    match(await changesOf('Gatehouse'), /Time out members/);
    match(await changesOf("Rook's Gambit"), /907942384058277230/);
  });

  it('has authors with names, and collections in several languages', async () => {
    const folders = ['people', 'collections'].map((name) => readdirSync(`${demo.folder}/${name}`));
    deepStrictEqual(
      folders.map((files) => files.length),
      [12, 8],
    );
    match(await load('/collections?locale=de'), /Dein erster Server[^]*Game night[^]*Musik und Ton/);
  });

  it('has bots that grow, one that falls fast and one that has posted nothing for 70 days', () => {
    const { git } = repositoryIn(demo.folder);
    const then = new Map(parseDay(git('show', `refs/botshelf/state:${toDayPath(toDay(Date.now()) - 30)}`)));
    const counts = git('grep', '-h', 'countedAt', 'refs/botshelf/state');
    const now = [...counts.matchAll(/"(\d+)":\{"count":(\d+),"countedAt":(\d+)/g)].map(
      ([, id = '', count, at]) => ({
        growth: Number(count) / (then.get(botId(id)) ?? Number.NaN),
        days: (Date.now() - Number(at)) / 86_400_000,
      }),
    );
    ok(now.filter(({ growth }) => growth > 1.1).length >= 10);
    strictEqual(now.filter(({ growth }) => growth < 0.95).length, 1);
    deepStrictEqual(
      now.filter(({ days }) => days > 1).map(({ days }) => Math.round(days)),
      [70],
    );
  });

  it('prints a command that posts a count, and as whom to review a proposal', async () => {
    await eventually(() => match(demo.stdout(), /^Review a proposal: log in at http:\S+\/login as Marge, /m));
    const [, url = '', token = '', body = ''] =
      /^curl (\S+) -H 'Authorization: (\S+)' -H 'Content-Type: application\/json' -d '(.+)'$/m.exec(
        demo.stdout(),
      ) ?? [];
    const headers = { authorization: token, 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body });
    strictEqual(answer.status, 200, await answer.text());
    match(await (await fetch(`${url}/counts`)).text(), /"count":156\}\]$/);
  });

  it('has a maintainer, an author of two bots, a newcomer and three proposals that wait', async () => {
    const proposals = await openProposals(demo.folder);
    const details = await Promise.all(proposals.open.map(async (each) => await proposals.read(each)));
    deepStrictEqual(
      details.map(({ kind, proposal, conflicts }) => [
        kind,
        proposal.proposer.name,
        proposal.state,
        conflicts,
      ]),
      [
        ['newBots', 'Tove', 'waiting', []],
        ['authors', 'Arvid', 'waiting', []],
        ['others', 'Inés', 'waiting', []],
      ],
    );
    const hours = details.map(({ proposal: { sentAt } }) => Math.round((Date.now() - sentAt) / 3_600_000));
    deepStrictEqual(hours, [31, 20, 4]);
    ok(details.every(({ proposal, steps }) => steps[0]?.at === proposal.sentAt));
    ok(details.every(({ proposal }) => proposal.text.length > 80));
    deepStrictEqual(
      details.map(({ changed }) => changed.size),
      [1, 1, 1],
    );
    const invite = /(?<=permissions=)\d+/.exec([...(details[1]?.changed.values() ?? [])].join('')) ?? ['0'];
    strictEqual(BigInt(invite[0]) & 8n, 8n, 'it asks for Administrator');
    const own = bots.filter(({ authors }) => authors.includes(details[1]?.proposal.proposer.id ?? ''));
    deepStrictEqual(
      own.map(({ contents }) => contents['en']?.name),
      ['Turnstile', 'Gatehouse'],
    );
  });

  it('lets visitors log in as one of its people, return to the page they were on, and log out', async () => {
    const visitor = new Visitor();
    const path = `/bots/${bots[0]?.id}?locale=de`;
    const people = await visitor.go(`${demo.address}/login?locale=de`, {
      headers: { referer: demo.address + path },
    });
    match(people.text, /lang="de".*Bei der Demo anmelden/s);
    const names = people.text.match(/(?<=name="account"[^>]+>)[^<]+/g);
    deepStrictEqual(names, ['Marge', 'Arvid', 'Nilufar']);
    const [, account = ''] = /name="account" value="(\d+)"/.exec(people.text) ?? [];
    const page = await visitor.go(`${demo.address}/login/callback?account=${account}`);
    strictEqual(page.url.href, demo.address + path);
    match(page.text, /<bdi>Marge<\/bdi>/);
    const out = await visitor.press(page, '/logout');
    ok(!out.text.includes('Marge'));
  });

  it('logs nobody in whom it does not know, or who has not pressed Log in', async () => {
    for (const [path, account] of [
      ['/login', '1'],
      ['/login', ''],
      ['/', '330178214406193152'],
    ] as const) {
      const visitor = new Visitor();
      await visitor.go(demo.address + path);
      const page = await visitor.go(`${demo.address}/login/callback?account=${account}`);
      ok(page.status >= 400 && !page.text.includes('Marge'), `${path} ${account}`);
    }
  });

  it('removes its folder when it is interrupted', async () => {
    ok(existsSync(demo.folder));
    strictEqual(await demo.end('SIGINT'), 0);
    ok(!existsSync(demo.folder));
    strictEqual(demo.stderr(), '');
  });

  it('leaves no folder behind when its port is taken', async () => {
    const port = String((await listenOnLoopback(createServer())).port);
    const folder = tempFolder();
    // In a process of its own, as the folder is removed when the process ends.
    const { status, stderr } = spawnSync(process.execPath, [mainFile, 'demo'], {
      env: { PATH: process.env['PATH'], PORT: port, TMPDIR: folder },
      encoding: 'utf8',
    });
    strictEqual(status, 2);
    ok(stderr.includes(port), stderr);
    deepStrictEqual(readdirSync(folder), []);
  });
});
