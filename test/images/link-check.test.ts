import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { crc32 } from 'node:zlib';
import { type ImageConnector } from '../../src/images/connector.ts';
import { LinkCheck, type LinkCheckOptions, readFailedLinks } from '../../src/images/link-check.ts';
import { silentLog } from '../../src/lib/log.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, redirect, type Site, startSite, testConnector } from '../support/https-site.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** The connector is used by all tests. */
const close = async (): Promise<void> => {};

const hourMs = 3_600_000;
const weekMs = 168 * hourMs;

describe('the link check', () => {
  let site: Site;
  let connector: ImageConnector;
  let path: string;
  let links: string[];
  let check: LinkCheck;

  const at = (place: string): string => `https://images.test:${site.port}${place}`;

  const open = async (more: Partial<LinkCheckOptions> = {}): Promise<void> => {
    check = new LinkCheck({
      path,
      connector: { probe: async (...request) => await connector.probe(...request), close },
      listLinks: () => links,
      log: silentLog,
      pauseMs: 1,
      ...more,
    });
    await check.start();
  };

  /** Goes through every hour until a time; returns once nothing is left. */
  const run = async (ms: number): Promise<void> => {
    for (const end = Date.now() + ms; Date.now() < end;) {
      mock.timers.setTime(Date.now() + hourMs);
      await check.checkHour();
    }
  };

  before(async () => {
    connector = await testConnector({ names: { 'bad.test': () => ['127.0.0.1'] }, timeLimit: 1_000 });
  });

  beforeEach(async () => {
    site = await startSite();
    path = join(tempFolder(), 'links.json');
    mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 5) });
    links = [];
    await open();
  });

  afterEach(async () => {
    await check.close();
    mock.timers.reset();
  });

  it('requests every link once a week, however many bots have it, and names the site', async () => {
    links = [at('/a'), at('/b'), at('/a')];
    await run(weekMs);
    deepEqual(site.asked.toSorted(), ['/a', '/b']);
    await run(weekMs);
    equal(site.asked.length, 4);
    equal(site.requests[0]?.headers['user-agent'], 'Botshelf link check (+https://bots.example.org)');
  });

  it('takes a link for dead after two failures a week apart, and no longer when it works again', async () => {
    const answers: Record<string, Answer> = { '/404': status(404), '/410': status(410), '/503': status(503) };
    Object.assign(site.answers, answers);
    const dead = [
      ...Object.keys(answers).map(at),
      'https://nowhere.test/',
      'https://127.0.0.1:1/',
      `https://bad.test:${site.port}/`,
    ];
    links = dead;
    await run(weekMs);
    deepEqual([...check.failures().keys()], []);
    await run(weekMs);
    deepEqual([...check.failures().keys()].toSorted(), dead.toSorted());
    equal(check.failures().get(at('/404'))?.message, 'has status 404');
    match(check.failures().get('https://nowhere.test/')?.message ?? '', /^has a host without an address/);
    for (const { since } of check.failures().values()) ok(Date.now() - since >= weekMs);
    site.answers['/404'] = status(200);
    await run(weekMs);
    equal(check.failures().has(at('/404')), false);
    equal(check.failures().size, dead.length - 1);
  });

  it('takes for no proof what may have other reasons', async () => {
    Object.assign(site.answers, {
      '/401': status(401),
      '/403': status(403),
      '/429': status(429),
      '/inside': redirect('https://10.0.0.1/'),
      '/plain': redirect('http://images.test/'),
      '/loop': redirect('/loop'),
    });
    links = ['/401', '/403', '/429', '/inside', '/plain', '/loop'].map(at);
    await run(3 * weekMs);
    deepEqual([...check.failures().keys()], []);
  });

  it('does not read the body', async () => {
    let ended = false;
    site.answers['/endless'] = (response) => {
      response.writeHead(404).write('x'.repeat(1_000_000));
      response.once('close', () => (ended = true));
    };
    links = [at('/endless')];
    await run(2 * weekMs);
    deepEqual([...check.failures().keys()], links);
    await eventually(() => ended);
  });

  it('follows three redirects', async () => {
    Object.assign(site.answers, {
      '/4': redirect('/3'),
      '/3': redirect('/2'),
      '/2': redirect('/1'),
      '/1': redirect('/404'),
    });
    links = [at('/3'), at('/4')];
    await run(2 * weekMs);
    deepEqual([...check.failures().keys()], [at('/3')]);
  });

  it('requests nothing of Discord', async () => {
    await check.close();
    const requested: string[] = [];
    await open({ connector: { probe: async (url) => requested.push(url), close } });
    links = ['discord.com', 'ptb.discord.com', 'discord.com.', 'discordapp.com', 'discord.gg']
      .map((host) => `https://${host}/`)
      .concat('https://notdiscord.com/');
    await run(weekMs);
    deepEqual(requested, ['https://notdiscord.com/']);
  });

  it('connects to nothing that is not public', async () => {
    const inside = await startSite({}, '127.0.0.2');
    links = [`https://127.0.0.2:${inside.port}/`];
    await run(2 * weekMs);
    equal(inside.connections, 0);
    deepEqual([...check.failures().keys()], []);
  });

  it('spreads the links over the week, and a start makes no burst', async () => {
    links = Array.from({ length: 2_000 }, (_, i) => at(`/${i}`));
    const hours: number[] = [];
    let requests = 0;
    await check.close();
    await open({ connector: { probe: async () => (requests++, 200), close }, pauseMs: 0 });
    for (let i = 0; i < 168; i++) {
      const before = requests;
      await run(hourMs);
      hours.push(requests - before);
    }
    equal(requests, links.length);
    ok(Math.max(...hours) < 50, `${Math.max(...hours)} in an hour`);
    await check.close();
    await open({ connector: { probe: async () => (requests++, 200), close } });
    await check.checkHour();
    equal(requests, links.length);
  });

  /** Returns links of a host that are due in the next hour. */
  const findDue = (host: string): string[] =>
    Array.from({ length: 2_000 }, (_, i) => `https://${host}/${i}`).filter(
      (url) => crc32(url) % 168 === (Math.floor(Date.now() / hourMs) + 1) % 168,
    );

  it('waits after each request to a host', async () => {
    await check.close();
    const times: number[] = [];
    await open({
      connector: { probe: async () => (times.push(performance.now()), 200), close },
      pauseMs: 20,
    });
    links = findDue('a.example').slice(0, 3);
    await run(hourMs);
    equal(times.length, 3);
    for (const [i, time] of times.entries()) if (i > 0) ok(time - (times[i - 1] ?? 0) >= 15);
  });

  it('leaves out an hour in which links of an earlier one wait', async () => {
    await check.close();
    let release = (): void => {};
    const wait = new Promise<void>((resolve) => (release = resolve));
    let requests = 0;
    const probe = async (): Promise<number> => {
      requests++;
      await wait;
      return 200;
    };
    await open({ connector: { probe, close } });
    links = findDue('a.example');
    const first = links;
    mock.timers.setTime(Date.now() + hourMs);
    const checking = check.checkHour();
    await eventually(() => requests === 1);
    links = findDue('b.example');
    await run(hourMs);
    equal(requests, 1);
    release();
    await checking;
    equal(requests, first.length);
    await check.checkHour();
    equal(requests, first.length + links.length);
  });

  it('keeps its failures over a restart, and forgets links that no bot has', async () => {
    links = [at('/gone'), at('/other')];
    await run(weekMs);
    await check.close();
    await open();
    await run(weekMs);
    equal(check.failures().size, 2);
    await check.close();
    equal((await readFailedLinks(path)).size, 2);
    await open();
    links = [at('/other')];
    await run(weekMs);
    deepEqual([...check.failures().keys()], [at('/other')]);
  });

  it('keeps 10,000 failures, and notes another once one of them works', async () => {
    await check.close();
    links = findDue('a.example').slice(0, 2);
    const [works = '', fails = ''] = links;
    const others = Array.from({ length: 9_999 }, (_, i) => `https://b.example/${i}`);
    const failure = { since: Date.now(), message: 'has status 404', isRepeated: true };
    const failures = [works, ...others].map((url) => [url, failure]);
    writeFileSync(path, JSON.stringify({ version: 1, hour: 0, failures }));
    let status = 500;
    const probe = async (url: string): Promise<number> => (url === works ? status : 500);
    await open({ connector: { probe, close }, listLinks: () => [...links, ...others], pauseMs: 0 });
    const read = (): string[] =>
      JSON.parse(readFileSync(path, 'utf8')).failures.map(([url]: [string]) => url);
    await run(hourMs);
    deepEqual([check.failures().size, read().includes(fails)], [10_000, false]);
    status = 200;
    mock.timers.setTime(Date.now() + weekMs - hourMs);
    await run(hourMs);
    deepEqual([check.failures().size, read().length, read().includes(fails)], [9_999, 10_000, true]);
  });

  it('starts afresh where its file is gone or is not one of its own', async () => {
    links = [at('/gone')];
    await run(2 * weekMs);
    await check.close();
    const saved = readFileSync(path, 'utf8');
    equal((await readFailedLinks(path)).size, 1);
    const shapes = ['{"version":1}', '{"version":1,"failures":[1]}', '{"version":1,"failures":[["x",null]]}'];
    for (const text of ['', '{', '[]', ...shapes, saved.replace('"version":1', '"version":2')]) {
      writeFileSync(path, text);
      equal((await readFailedLinks(path)).size, 0, text.slice(0, 100));
    }
    equal((await readFailedLinks(join(tempFolder(), 'links.json'))).size, 0);
  });

  it('ends when it is closed, before the site responds, and takes that for no failure', async () => {
    let arrived = false;
    links = findDue(`images.test:${site.port}`).slice(0, 1);
    site.answers[new URL(links[0] ?? '').pathname] = () => void (arrived = true);
    mock.timers.setTime(Date.now() + hourMs);
    const checking = check.checkHour();
    await eventually(() => arrived);
    await check.close();
    await checking;
    equal(existsSync(path), true);
    match(readFileSync(path, 'utf8'), /"failures":\[\]/);
  });
});

function status(code: number): Answer {
  return (response) => {
    response.writeHead(code).end();
  };
}
