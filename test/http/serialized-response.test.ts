import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';

const path = '/api/v2/bots/7';

describe('an answer that is sent again', () => {
  let port: number;

  before(async () => {
    const { address } = await startTestService({ [pagePath('7')]: mainPage({ name: 'Übung' }) });
    port = Number(new URL(address).port);
  });

  /** Returns the responses to `text` on one connection, once so many are there or the other side ends it. */
  async function talk(text: string, answers: number): Promise<string> {
    const socket = createConnection(port, '127.0.0.1');
    await once(socket, 'connect');
    let said = '';
    let ended = false;
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => (said += String(chunk)));
    socket.on('end', () => (ended = true));
    socket.write(text);
    await eventually(() => ended || (said.match(/HTTP\/1\.1 /g) ?? []).length >= answers);
    await rest(20);
    socket.destroy();
    return said;
  }

  /** The number of 304s that the response cache has sent. */
  async function repeated(): Promise<number> {
    const said = await talk('GET /metrics HTTP/1.0\r\n\r\n', 2);
    return Number(/repeated_responses_total\{status="304"\} (\d+)/.exec(said)?.[1]);
  }

  const get = (more = '', version = '1.1'): string => `GET ${path} HTTP/${version}\r\nHost: x\r\n${more}\r\n`;
  const withoutDate = (answer: string): string => answer.replace(/^Date: .*$/m, 'Date: then');
  /** Header lines in any order and case, and the body. */
  const parts = (answer: string): { head: string[]; body: string } => {
    const [head = '', ...body] = withoutDate(answer).split('\r\n\r\n');
    const lines = head.split('\r\n').map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()));
    return { head: lines.toSorted(), body: body.join('\r\n\r\n') };
  };

  it('is the same as when it was decided, whole and as a 304', async () => {
    const accept = 'Accept: application/json\r\n';
    const decided = await talk(get(accept), 1);
    match(decided, /^HTTP\/1\.1 200 OK\r\n/);
    deepStrictEqual(parts(await talk(get(accept), 1)), parts(decided));
    const etag = /^ETag: (.*)$/im.exec(decided)?.[1] ?? '';
    const condition = `If-None-Match: ${etag}\r\n`;
    const listed = await talk(get(`${accept}If-None-Match: "other", ${etag}\r\n`), 1);
    match(listed, /^HTTP\/1\.1 304 Not Modified\r\n/);
    deepStrictEqual(parts(await talk(get(accept + condition), 1)), parts(listed));
  });

  it('is kept from a 304 alone, for clients that have the record already', async () => {
    const etag = /^ETag: (.*)$/im.exec(await talk(get('Accept: */*\r\n'), 1))?.[1] ?? '';
    const asked = 'Accept: application/json, */*\r\n';
    const condition = `${asked}If-None-Match: ${etag}\r\n`;
    const decided = await talk(get(condition), 1);
    match(decided, /^HTTP\/1\.1 304 /);
    const before = await repeated();
    deepStrictEqual(parts(await talk(get(condition), 1)), parts(decided));
    strictEqual(await repeated(), before + 1);
    match(await talk(get(asked), 1), /^HTTP\/1\.1 200 OK\r\n[^]*"authors"/);
    match(await talk(get(`${asked}If-None-Match: "other", ${etag}\r\n`), 1), /^HTTP\/1\.1 304 /);
    match(await talk(get(asked), 1), /^HTTP\/1\.1 200 OK\r\n[^]*"authors"/);
  });

  it('has the date of the second in which it is sent @slow', async () => {
    const [, first = ''] = /^Date: (.*)\r$/m.exec(await talk(get(), 1)) ?? [];
    await rest(1100);
    const [, second = ''] = /^Date: (.*)\r$/m.exec(await talk(get(), 1)) ?? [];
    const passed = Date.parse(second) - Date.parse(first);
    ok(passed >= 1000 && passed <= 10_000, `${first}, then ${second}`);
    ok(Math.abs(Date.now() - Date.parse(second)) < 5000);
  });

  it('comes in order where requests come faster than answers', async () => {
    const etag = /^ETag: (.*)$/im.exec(await talk(get(), 1))?.[1] ?? '';
    const others = `${get()}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`;
    const said = await talk(get() + get(`If-None-Match: ${etag}\r\n`) + others, 4);
    deepStrictEqual(said.match(/(?<=HTTP\/1\.1 )\d+/g), ['200', '304', '200', '200']);
  });

  it('ends the connection where the request asks for it or is of HTTP/1.0', async () => {
    await talk(get(), 1);
    match(await talk(get('Connection: close\r\n'), 2), /^Connection: close\r$/im);
    match(await talk(get('', '1.0'), 2), /^Connection: close\r$/im);
  });

  it('is not taken for a request with a header twice or in capitals', async () => {
    const said = await talk(get('accept-encoding: gzip;q=0\r\nAccept-Encoding: br\r\n'), 1);
    match(said, /^Content-Encoding: br\r$/im);
    match(await talk(get('ACCEPT-ENCODING: gzip\r\n'), 1), /^Content-Encoding: gzip\r$/im);
  });
});
