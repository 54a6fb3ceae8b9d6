import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type Notice,
  Notifications,
  type NotificationsOptions,
  parseRetryAfter,
  toWebhookBody,
} from '../../src/proposals/notifications.ts';
import { atTime } from '../support/at-time.ts';
import { eventually } from '../support/eventually.ts';
import { freePort, listenOnLoopback } from '../support/loopback.ts';
import { recordedLog } from '../support/recorded-log.ts';

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

const accept: Respond = (response) => response.writeHead(204).end();

/** The receiver's responses to the next requests; the last one stays. */
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
    received.push((JSON.parse(body) as { readonly botshelf: Notice }).botshelf.title);
    const respond = responds.length > 1 ? responds.shift() : responds[0];
    respond?.(response, request);
  });
});

const secret = 'secret';
const page = 'https://bots.example.org/bots/1';
const open: Notifications[] = [];

describe('notifications', () => {
  let url: string;
  let log = recordedLog();

  before(async () => {
    url = `http://127.0.0.1:${(await listenOnLoopback(receiver)).port}/api/webhooks/1/${secret}`;
  });

  beforeEach(() => {
    [responds, received, times, bodies] = [[accept], [], [], []];
    log = recordedLog();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map(async (one) => await one.close()));
    ok(!log.lines.some((line) => line.includes(secret)));
  });

  const start = (more: Partial<NotificationsOptions> = {}): Notifications => {
    const notifications = new Notifications({ url, log, minDelayMs: 5, ...more });
    open.push(notifications);
    return notifications;
  };
  const notice = (title: string, more: Partial<Notice> = {}): Notice => ({
    kind: 'report',
    title,
    text: 'Words.',
    url: page,
    at: Date.now(),
    ...more,
  });
  const sent = async (...titles: string[]): Promise<void> =>
    await eventually(() => deepStrictEqual(received, titles));
  const givenUp = (cause: string): string =>
    `error: could not send the notice about ${page} to ${new URL(url).host}: ${cause}; it is given up, see /review`;

  it('arrive one at a time, in their order, as JSON, from a receiver that is slow too', async () => {
    let open = 0;
    responds = [
      (response, { headers }) => {
        deepStrictEqual([++open, headers['content-type']], [1, 'application/json']);
        setTimeout(() => {
          open--;
          response.end('{}');
        }, 20);
      },
    ];
    const notifications = start();
    const notices = ['a', 'b', 'c'].map((title) => notice(title));
    for (const one of notices) notifications.notify(one);
    await sent('a', 'b', 'c');
    deepStrictEqual([bodies, log.lines], [notices.map(toWebhookBody), []]);
  });

  it('are retried after an error, a reset connection and a time-out', async () => {
    const fail: Respond = (response) => response.writeHead(500).end();
    const reset: Respond = (_, request) => request.socket.resetAndDestroy();
    responds = [fail, reset, () => {}, accept];
    const notifications = start({ timeoutMs: 100 });
    notifications.notify(notice('a'));
    notifications.notify(notice('b'));
    await sent('a', 'a', 'a', 'a', 'b');
    deepStrictEqual(log.lines, []);
  });

  it('are given up after five attempts, with twice the wait after each', async () => {
    const cutOff: Respond = (response) => {
      response.writeHead(503, { 'Content-Length': '9' }).flushHeaders();
      response.destroy();
    };
    const fail: Respond = (response) => response.writeHead(304).end();
    responds = [fail, cutOff, fail, fail, fail, accept];
    const notifications = start({ minDelayMs: 10 });
    notifications.notify(notice('a'));
    notifications.notify(notice('b'));
    await sent('a', 'a', 'a', 'a', 'a', 'b');
    const [first = 0, second = 0, , fourth = 0, fifth = 0] = times;
    ok(second - first >= 9, `${second - first} ms`);
    ok(fifth - fourth >= 79, `${fifth - fourth} ms`);
    deepStrictEqual(log.lines, [givenUp('the response was 304')]);
  });

  it('are given up where nothing listens', async () => {
    const port = await freePort();
    start({ url: `http://127.0.0.1:${port}/${secret}`, minDelayMs: 1 }).notify(notice('a'));
    await eventually(() =>
      match(log.lines[0] ?? '', /connect ECONNREFUSED .*; it is given up, see \/review$/),
    );
  });

  it('wait as long as the receiver says, in seconds or until a date', async () => {
    const seconds: Respond = (response) => response.writeHead(429, { 'Retry-After': '0.1' }).end();
    const date: Respond = (response) =>
      response.writeHead(503, { 'Retry-After': 'Fri, 01 Jan 2027 00:00:01 GMT' }).end();
    responds = [seconds, date, accept];
    await atTime(Date.UTC(2027, 0, 1, 0, 0, 0, 900), async () => {
      start().notify(notice('a'));
      await sent('a', 'a', 'a');
    });
    const [first = 0, second = 0, third = 0] = times;
    ok(second - first >= 99, `${second - first} ms`);
    ok(third - second >= 99, `${third - second} ms`);
  });

  it('do not hurry where the receiver says that no wait is needed', async () => {
    responds = [(response) => response.writeHead(503, { 'Retry-After': '0' }).end(), accept];
    start({ minDelayMs: 50 }).notify(notice('a'));
    await sent('a', 'a');
    const [first = 0, second = 0] = times;
    ok(second - first >= 49, `${second - first} ms`);
  });

  it('are retried after a 408, 425 and 429, and given up after any other 4xx', async () => {
    const passing = [408, 425, 429].map(
      (status): Respond =>
        (response) =>
          response.writeHead(status).end(),
    );
    const refuse: Respond = (response) => response.writeHead(400).end(`invalid: ${secret}`);
    responds = [...passing, refuse, accept];
    const notifications = start();
    notifications.notify(notice('a'));
    notifications.notify(notice('b'));
    await sent('a', 'a', 'a', 'a', 'b');
    deepStrictEqual(log.lines, [givenUp('the response was 400')]);
  });

  it('do not follow a redirect', async () => {
    responds = [(response) => response.writeHead(307, { Location: `${url}/other` }).end()];
    start().notify(notice('a'));
    await eventually(() => deepStrictEqual(log.lines, [givenUp('unexpected redirect')]));
    deepStrictEqual(received, ['a', 'a', 'a', 'a', 'a']);
  });

  it('are bounded: the oldest of more than a hundred go, and the log says so once', async () => {
    let release = (): void => {};
    responds = [(response) => (release = () => accept(response, response.req)), accept];
    const notifications = start();
    for (let i = 0; i < 103; i++) notifications.notify(notice(String(i)));
    await sent('0');
    release();
    await sent('0', ...Array.from({ length: 100 }, (_, i) => String(i + 3)));
    deepStrictEqual(log.lines, ['warn: more than 100 notices wait: the oldest are dropped; see /review']);
  });

  it('are given up when the service stops, without the response of a receiver that says nothing', async () => {
    responds = [() => {}];
    const notifications = start();
    notifications.notify(notice('a'));
    notifications.notify(notice('b'));
    const [request] = (await once(receiver, 'request')) as [IncomingMessage];
    const ended = once(request.socket, 'close');
    await notifications.close();
    await ended;
    deepStrictEqual(log.lines, [givenUp('the service stops'), givenUp('the service stops')]);
  });

  it('are given up when the service stops between two attempts', async () => {
    responds = [(response) => response.writeHead(500).end()];
    const notifications = start({ minDelayMs: 60_000 });
    notifications.notify(notice('a'));
    await sent('a');
    await notifications.close();
    deepStrictEqual(log.lines, [givenUp('the service stops')]);
  });
});

describe('the time after which a receiver is asked again', () => {
  it('is an hour at most, and none where it says none', () => {
    strictEqual(parseRetryAfter('3601'), 3_600_000);
    for (const value of [null, '', 'soon']) strictEqual(parseRetryAfter(value), undefined);
  });
});
