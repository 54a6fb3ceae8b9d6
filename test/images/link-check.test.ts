import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  let now: number;
  let links: string[];
  let check: LinkCheck;

  const at = (place: string): string => `https://images.test:${site.port}${place}`;

  const open = async (more: Partial<LinkCheckOptions> = {}): Promise<void> => {
    check = new LinkCheck({
      path,
      connector: { probe: async (...request) => await connector.probe(...request), close },
      listLinks: () => links,
      log: silentLog,
      now: () => now,
      pauses: { usual: 1, platform: 1 },
      ...more,
    });
    await check.start();
  };

  /** Goes through every hour until a time; returns once nothing is left. */
  const run = async (ms: number): Promise<void> => {
    for (const end = now + ms; now < end;) {
      now += hourMs;
      await check.checkHour();
      await check.idle();
    }
  };

  before(async () => {
    connector = await testConnector({ names: { 'bad.test': () => ['127.0.0.1'] }, timeLimit: 1_000 });
  });

  beforeEach(async () => {
    site = await startSite();
    path = join(tempFolder(), 'links.json');
    now = Date.UTC(2026, 0, 5);
    links = [];
    await open();
  });

  afterEach(async () => {
    await check.close();
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
    deepEqual([...check.failed.keys()], []);
    await run(weekMs);
    deepEqual([...check.failed.keys()].toSorted(), dead.toSorted());
    equal(check.failed.get(at('/404'))?.message, 'has status 404');
    match(check.failed.get('https://nowhere.test/')?.message ?? '', /^has a host without an address/);
    for (const { since, checkedAt } of check.failed.values()) ok(checkedAt - since >= weekMs);
    site.answers['/404'] = status(200);
    await run(weekMs);
    equal(check.failed.has(at('/404')), false);
    equal(check.failed.size, dead.length - 1);
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
    deepEqual([...check.failed.keys()], []);
  });

  it('asks again with GET where HEAD is refused, and does not read the body', async () => {
    for (const code of [403, 405, 501])
      site.answers[`/${code}`] = (response, { method }) =>
        void response.writeHead(method === 'HEAD' ? code : 404).end('x'.repeat(1_000_000));
    links = [at('/403'), at('/405'), at('/501')];
    await run(2 * weekMs);
    deepEqual([...check.failed.keys()].toSorted(), links);
    deepEqual(
      site.requests.filter(({ url }) => url === '/405').map(({ method }) => method),
      ['HEAD', 'GET', 'HEAD', 'GET'],
    );
  });

  it('follows three redirects, and none to a chat platform', async () => {
    Object.assign(site.answers, {
      '/3': redirect('/2'),
      '/2': redirect('/1'),
      '/1': redirect('/404'),
      '/server': redirect('https://discord.gg/abc'),
    });
    links = [at('/3'), at('/server')];
    await run(2 * weekMs);
    deepEqual([...check.failed.keys()], [at('/3')]);
  });

  it('connects to nothing that is not public', async () => {
    const inside = await startSite({}, '127.0.0.2');
    links = [`https://127.0.0.2:${inside.port}/`];
    await run(2 * weekMs);
    equal(inside.connections, 0);
    deepEqual([...check.failed.keys()], []);
  });

  it('spreads the links over the week, and a start makes no burst', async () => {
    links = Array.from({ length: 2_000 }, (_, i) => at(`/${i}`));
    const hours: number[] = [];
    let requests = 0;
    await check.close();
    await open({
      connector: { probe: async () => (requests++, 200), close },
      pauses: { usual: 0, platform: 0 },
    });
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
    await check.idle();
    equal(requests, links.length);
  });

  it('waits after each request to a host, longer to a chat platform, also between HEAD and GET', async () => {
    await check.close();
    const times = new Map<string, number[]>();
    const probe = async (url: string): Promise<number> => {
      const { hostname } = new URL(url);
      times.set(hostname, [...(times.get(hostname) ?? []), performance.now()]);
      return hostname.endsWith('discord.gg') ? 403 : 200;
    };
    await open({ connector: { probe, close }, pauses: { usual: 20, platform: 100 } });
    const hour = now / hourMs + 1;
    const due = (host: string): string[] =>
      Array.from({ length: 2_000 }, (_, i) => `https://${host}/${i}`)
        .filter((url) => crc32(url) % 168 === hour % 168)
        .slice(0, 2);
    links = [...due('discord.gg'), ...due('ptb.discord.com'), ...due('discord.com'), ...due('a.example')];
    await run(hourMs);
    const discord = [...(times.get('discord.com') ?? []), ...(times.get('ptb.discord.com') ?? [])];
    for (const [sent, least, count] of [
      [discord.toSorted((a, b) => a - b), 95, 4],
      [times.get('discord.gg') ?? [], 95, 4],
      [times.get('a.example') ?? [], 15, 2],
    ] as const) {
      equal(sent.length, count);
      for (const [i, time] of sent.entries()) if (i > 0) ok(time - (sent[i - 1] ?? 0) >= least);
    }
  });

  it('leaves what an hour has no time for to another week', async () => {
    await check.close();
    let release = (): void => {};
    let requests = 0;
    const probe = async (): Promise<number> => {
      requests++;
      await new Promise<void>((resolve) => (release = resolve));
      return 200;
    };
    await open({ connector: { probe, close } });
    const hour = now / hourMs + 1;
    links = Array.from({ length: 2_000 }, (_, i) => `https://a.example/${i}`).filter(
      (url) => crc32(url) % 168 === hour % 168,
    );
    ok(links.length > 3);
    now += hourMs;
    await check.checkHour();
    now += hourMs;
    await check.checkHour();
    await eventually(() => requests === 1);
    release();
    await check.idle();
    equal(requests, 1);
  });

  it('keeps its failures over a restart, and forgets links that no bot has', async () => {
    links = [at('/gone'), at('/other')];
    await run(weekMs);
    await check.close();
    await open();
    await run(weekMs);
    equal(check.failed.size, 2);
    await check.close();
    equal((await readFailedLinks(path)).size, 2);
    await open();
    links = [at('/other')];
    await run(hourMs);
    deepEqual([...check.failed.keys()], [at('/other')]);
  });

  it('starts afresh where its file is gone or is not one of its own', async () => {
    links = [at('/gone')];
    await run(2 * weekMs);
    await check.close();
    const saved = readFileSync(path, 'utf8');
    equal((await readFailedLinks(path)).size, 1);
    for (const text of [
      '',
      '{',
      '[]',
      '{"version":2,"hour":1,"failures":[]}',
      '{"version":1,"hour":"1","failures":[]}',
      '{"version":1,"hour":1,"failures":[["https://a.example",null]]}',
      '{"version":1,"hour":1,"failures":[null]}',
      saved.replace('"since"', '"sinse"'),
      `${saved}${' '.repeat(33 * 2 ** 20)}`,
    ]) {
      writeFileSync(path, text);
      equal((await readFailedLinks(path)).size, 0, text.slice(0, 100));
    }
    equal((await readFailedLinks(join(tempFolder(), 'links.json'))).size, 0);
  });

  it('ends at once when it is closed, and takes that for no failure', async () => {
    let arrived = false;
    site.answers['/slow'] = () => void (arrived = true);
    const hour = now / hourMs + 1;
    const slow = Array.from({ length: 2_000 }, (_, i) => `${at('/slow')}?${i}`).find(
      (url) => crc32(url) % 168 === hour % 168,
    );
    site.answers[`/slow${new URL(slow ?? '').search}`] = () => void (arrived = true);
    links = [slow ?? ''];
    now += hourMs;
    await check.checkHour();
    await eventually(() => arrived);
    const start = performance.now();
    await check.close();
    ok(performance.now() - start < 500);
    equal(existsSync(path), true);
    match(readFileSync(path, 'utf8'), /"failures":\[\]/);
  });
});

function status(code: number): Answer {
  return (response) => {
    response.writeHead(code).end();
  };
}
