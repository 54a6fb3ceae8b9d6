import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import type { Notice } from '../../src/proposals/notice.ts';
import {
  Notifications,
  type NotificationsOptions,
  parseRetryAfter,
} from '../../src/proposals/notifications.ts';
import { atTime } from '../support/at-time.ts';
import { eventually } from '../support/eventually.ts';
import { freePort, listenOnLoopback } from '../support/loopback.ts';
import { recordedLog } from '../support/recorded-log.ts';
import { tempFolder } from '../support/temp-folder.ts';

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

const accept: Respond = (response) => response.writeHead(204).end();

/** What the receiver does with the requests to come; the last one stays. */
let responds: Respond[] = [accept];
let received: string[] = [];
let times: number[] = [];
let bodies: string[] = [];

const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    times.push(performance.now());
    bodies.push(body);
    received.push(titleOf(body));
    const respond = responds.length > 1 ? responds.shift() : responds[0];
    respond?.(response, request);
  });
});

function titleOf(body: string): string {
  return (JSON.parse(body) as { readonly botshelf: Notice }).botshelf.title;
}

/** As short as what is taken for one. */
const secret = 'twelve-chars';
const open: Notifications[] = [];

describe('notifications', () => {
  let folder: string;
  let url: string;
  let log = recordedLog();

  before(async () => {
    url = `http://127.0.0.1:${(await listenOnLoopback(receiver)).port}/api/webhooks/1/${secret}`;
  });

  beforeEach(() => {
    [responds, received, times, bodies] = [[accept], [], [], []];
    folder = join(tempFolder(), 'notifications');
    log = recordedLog();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map(async (one) => await one.close()));
    ok(!log.lines.some((line) => line.includes(secret)));
  });

  const start = (more: Partial<NotificationsOptions> = {}): Notifications => {
    const notifications = new Notifications({ folder, url, log, minDelayMs: 5, ...more });
    open.push(notifications);
    return notifications;
  };
  const notice = (title: string, more: Partial<Notice> = {}): Notice => ({
    kind: 'report',
    title,
    text: 'Words.',
    url: 'https://bots.example.org/bots/1',
    at: Date.now(),
    ...more,
  });
  const waiting = (): string[] => readdirSync(folder);
  const sent = async (...titles: string[]): Promise<void> =>
    await eventually(() => {
      deepStrictEqual(received, titles);
      deepStrictEqual(waiting(), []);
    });

  it('arrive one at a time, in their order, from a receiver that is slow too', async () => {
    let open = 0;
    responds = [
      (response) => {
        strictEqual(++open, 1);
        setTimeout(() => {
          open--;
          response.end('{}');
        }, 20);
      },
    ];
    const notifications = start();
    for (const title of ['a', 'b', 'c']) notifications.notify(notice(title));
    await sent('a', 'b', 'c');
    deepStrictEqual(log.lines, []);
  });

  it('are what Discord shows, with no mention, no link of the text’s own, and within its limits', async () => {
    const at = Date.now() - 1000;
    const title = `[Log in](https://evil.example) @everyone\n**${'x'.repeat(300)}`;
    responds = [
      (response, request) => {
        strictEqual(request.headers['content-type'], 'application/json');
        accept(response, request);
      },
    ];
    start().notify(notice(title, { text: `<@1> discord.gg/a ${'_'.repeat(5000)}😀`, at }));
    await eventually(() => strictEqual(bodies.length, 1));
    const body = JSON.parse(bodies[0] ?? '') as {
      readonly content: string;
      readonly embeds: readonly [{ title: string; description: string; url: string; timestamp: string }];
      readonly allowed_mentions: unknown;
      readonly botshelf: Notice;
    };
    match(body.content, /^\\\[Log in\\\]\\\(https\\:\\\/\\\/evil\\\.example\\\) \\@everyone \\\*\\\*x+/);
    match(body.content, /\n<https:\/\/bots\.example\.org\/bots\/1>$/);
    ok(body.content.length <= 2000);
    const [embed] = body.embeds;
    ok(embed.title.length <= 256);
    match(embed.description, /^\\<\\@1\\> discord\\\.gg\\\/a (?:\\_)+…$/);
    ok(embed.description.length <= 4096);
    strictEqual(embed.url, 'https://bots.example.org/bots/1');
    strictEqual(embed.timestamp, new Date(at).toISOString());
    deepStrictEqual(body.allowed_mentions, { parse: [] });
    strictEqual(body.botshelf.kind, 'report');
    match(body.botshelf.text, /^<@1> discord\.gg\/a _+$/);
  });

  it('without a text have none in the embed', async () => {
    start().notify(notice('a', { text: '' }));
    await sent('a');
    ok(!bodies[0]?.includes('description'));
  });

  it('are sent again after an error, a reset connection and a time-out, and the log has each cause once', async () => {
    const fail: Respond = (response) =>
      response.writeHead(500).end(`broken at /api/webhooks/1/${secret} after ${times.length}`);
    const reset: Respond = (_, request) => request.socket.resetAndDestroy();
    responds = [fail, fail, reset, reset, () => {}, accept];
    const notifications = start({ timeoutMs: 1000 });
    notifications.notify(notice('a'));
    notifications.notify(notice('b'));
    await sent('a', 'a', 'a', 'a', 'a', 'a', 'b');
    const { host } = new URL(url);
    strictEqual(log.lines.length, 4);
    strictEqual(
      log.lines[0],
      `error: could not send notices to ${host}: the response was 500 "broken at /api/webhooks/1/… after 1"; they wait, retrying for 24 hours`,
    );
    match(log.lines[1] ?? '', /: (?:read ECONNRESET|other side closed);/);
    match(log.lines[2] ?? '', /timeout/);
    strictEqual(log.lines[3], `info: ${host} takes notices again`);
  });

  it('wait longer after each failure, such as a response that says nothing or is cut off', async () => {
    const nothing: Respond = (response) => response.writeHead(304).end();
    const cutOff: Respond = (response, request) => {
      response.writeHead(500, { 'Content-Length': '9' }).flushHeaders();
      setTimeout(() => request.socket.resetAndDestroy(), 50);
    };
    responds = [nothing, cutOff, nothing, accept];
    start({ minDelayMs: 40 }).notify(notice('a'));
    await sent('a', 'a', 'a', 'a');
    deepStrictEqual(
      log.lines.map((line) => / (?:was \d+ ".*?"|again)/.exec(line)?.[0]),
      [' was 304 ""', ' was 500 ""', ' was 304 ""', ' again'],
    );
    const [, , third = 0, fourth = 0] = times;
    ok(fourth - third >= 150, `${fourth - third} ms`);
  });

  it('wait as long as the receiver says, in seconds or until a date', async () => {
    const later: Respond = (response) => response.writeHead(429, { 'Retry-After': '1' }).end();
    const atDate: Respond = (response) => {
      const date = new Date(Date.now() + 2000).toUTCString();
      response.writeHead(429, { 'Retry-After': date }).end();
    };
    responds = [later, atDate, accept];
    start().notify(notice('a'));
    await sent('a', 'a', 'a');
    const [first = 0, second = 0, third = 0] = times;
    ok(second - first >= 990, `${second - first} ms`);
    ok(third - second >= 900, `${third - second} ms`);
  });

  it('that the receiver refuses are dropped, and the log says what it said', async () => {
    const words = '{"message":"Invalid Form Body"}'.padEnd(1000, '.');
    responds = [(response) => response.writeHead(400).end(words), accept];
    const notifications = start();
    notifications.notify(notice('a'));
    notifications.notify(notice('b'));
    await sent('a', 'b');
    strictEqual(log.lines.length, 1);
    match(
      log.lines[0] ?? '',
      /^warn: the notice of [-\dT:.]+Z is dropped: the response was 400 "\{\\"message\\":.{291}"$/,
    );
  });

  it('do not follow a redirect', async () => {
    responds = [(response) => response.writeHead(307, { Location: 'http://127.0.0.1:9/' }).end(), accept];
    start().notify(notice('a'));
    await sent('a', 'a');
    match(log.lines[0] ?? '', /unexpected redirect/);
  });

  it('wait for a receiver that is away, also where the process is killed, in their order', async () => {
    const port = await freePort();
    // It does nothing more in the time of this test, as after a kill.
    const killed = start({ url: `http://127.0.0.1:${port}/`, minDelayMs: 60_000 });
    for (const title of ['a', 'b', 'c']) killed.notify(notice(title));
    const saved = (): string[] => waiting().filter((name) => !name.startsWith('.'));
    await eventually(() => strictEqual(saved().length, 3));
    await eventually(() => match(log.lines[0] ?? '', /connect ECONNREFUSED/));
    writeFileSync(join(folder, '.1795403084123.json.1.1.tmp'), '{');
    start().notify(notice('d'));
    await sent('a', 'b', 'c', 'd');
    strictEqual(log.lines.length, 1);
  });

  it('are bounded: the oldest go, and the log says so once, until all are sent', async () => {
    const notifications = start({ maxWaiting: 3 });
    const kept = (): string[] =>
      waiting()
        .filter((name) => !name.startsWith('.'))
        .toSorted()
        .map((name) => titleOf(readFileSync(join(folder, name), 'utf8')));
    for (const times of [1, 2]) {
      let refuse = (): void => {};
      [responds, received] = [[(response) => (refuse = () => response.writeHead(503).end()), accept], []];
      notifications.notify(notice('0'));
      await eventually(() => deepStrictEqual(received, ['0']));
      for (let i = 1; i < 7; i++) notifications.notify(notice(String(i)));
      await eventually(() => deepStrictEqual(kept(), ['4', '5', '6']));
      refuse();
      await sent('0', '4', '5', '6');
      strictEqual(log.lines.filter((line) => line.includes('the oldest are dropped')).length, times);
    }
  });

  it('are given up after 24 hours', async () => {
    mkdirSync(folder, { recursive: true });
    const time = Date.now() - 86_400_001;
    writeFileSync(join(folder, `${time}-${'0'.repeat(32)}`), '{}');
    writeFileSync(join(folder, 'notes.txt'), 'not ours');
    start().notify(notice('new'));
    await eventually(() => deepStrictEqual(waiting(), ['notes.txt']));
    deepStrictEqual(received, ['new']);
    deepStrictEqual(log.lines, [
      `warn: the notice of ${new Date(time).toISOString()} is dropped: 24 hours have passed`,
    ]);
  });

  it('do no harm where the folder cannot be written', async () => {
    writeFileSync(folder, '');
    start().notify(notice('a'));
    await eventually(() => strictEqual(log.lines.length, 2));
    match(log.lines[1] ?? '', /^error: could not keep notices in .*E[A-Z]+: /);
  });

  it('stop without the response of a receiver that says nothing', async () => {
    responds = [() => {}];
    // Longer than this test may take.
    const notifications = start({ timeoutMs: 600_000 });
    notifications.notify(notice('a'));
    const [request] = (await once(receiver, 'request')) as [IncomingMessage];
    await eventually(() => strictEqual(received.length, 1));
    const ended = once(request.socket, 'close');
    notifications.notify(notice('b'));
    await notifications.close();
    await ended;
    notifications.notify(notice('after the end'));
    await rest(50);
    deepStrictEqual([waiting().length, log.lines], [2, []]);
  });
});

describe('the time after which a receiver is asked again', () => {
  it('is seconds or a date, an hour at most, and none where it says neither', async () => {
    strictEqual(parseRetryAfter('2'), 2000);
    strictEqual(parseRetryAfter('0.5'), 500);
    strictEqual(parseRetryAfter('3601'), 3_600_000);
    for (const value of [null, '', 'soon']) strictEqual(parseRetryAfter(value), undefined);
    await atTime(Date.UTC(2027, 0, 1), async () => {
      strictEqual(parseRetryAfter('Fri, 01 Jan 2027 00:00:05 GMT'), 5000);
      await Promise.resolve();
    });
  });
});
