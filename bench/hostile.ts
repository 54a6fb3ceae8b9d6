import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { hostileCommands, hostilePages, slowPages } from '../test/support/hostile-pages.ts';
import { commitHugeTree } from '../test/support/huge-tree.ts';
import { importCommits, importFile } from './catalogue.ts';
import { type LoadedServer, type LoadRequest, manyConnections, postBot, send, timesUntil } from './load.ts';
import { startServer, untilQuiet } from './processes.ts';
import { atMost, milliseconds, type Row } from './rows.ts';
import { editPage, git, type SharedStage, shareStage, type Stage, type StageBot } from './stage.ts';

/** The longest wait for `/healthz` while somebody sends, pushes, writes or answers the worst, until the service is idle again. */
export async function* hostile(stage: Stage): AsyncGenerator<Row> {
  const folders = shareStage(stage);
  const start = async () =>
    await startServer({
      command: ['src/main.js', 'serve'],
      readyPath: '/healthz',
      env: {
        BOTSHELF_CATALOGUE: folders.clone,
        BOTSHELF_VAR: folders.var,
        BOTSHELF_REMOTE: 'origin',
        BOTSHELF_SYNC_SECONDS: '2',
        BOTSHELF_TRUST_PROXY: 'on',
        BOTSHELF_IMAGES: 'off',
        BOTSHELF_RATE_LIMIT: '0',
      },
    });
  {
    await using service = await start();
    await untilQuiet(service);
    for (const [name, attack] of Object.entries(listAttacks(stage, service, folders)))
      yield await waitFor(name, service, attack);
  }
  await using service = await start();
  yield await waitFor('a start with all of this', service, async () => {});
}

async function waitFor(name: string, service: LoadedServer, attack: () => Promise<unknown>): Promise<Row> {
  // In a thread of its own, because sending an attack takes time too.
  const watch = new Worker(new URL(import.meta.url), { workerData: service.address });
  await attack();
  // The next round with the remote begins meanwhile, and the watcher has seen what was written.
  await rest(5000);
  await untilQuiet(service);
  watch.postMessage('end');
  const [longest] = (await once(watch, 'message')) as [number];
  return atMost(`/healthz beside ${name}, longest`, longest, 500, milliseconds);
}

if (!isMainThread && parentPort) {
  const over = once(parentPort, 'message');
  const request: LoadRequest = { method: 'GET', path: '/healthz', headers: {} };
  const waits = await timesUntil(over, workerData as string, request, 5);
  parentPort.postMessage(Math.max(...waits));
}

function listAttacks(
  { bots }: Stage,
  service: LoadedServer,
  { shared, clone, person }: SharedStage,
): Readonly<Record<string, () => Promise<unknown>>> {
  const [bot, ...others] = bots as readonly [StageBot, ...StageBot[]];
  const texts = { ...hostilePages, ...slowPages };
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
  };
  const commandsPath = (path: string): string => path.replace(/\.[^/]*\.md$/, '.commands.json');
  return {
    'commands of five hostile lists': async () =>
      await sendAll(
        service,
        Object.values(hostileCommands(127 * 1024)).flatMap((body) =>
          Array.from({ length: 10 }, () => putCommands(bot, body)),
        ),
      ),
    'previews of hostile pages': async () =>
      await sendAll(
        service,
        Object.values(texts).map((text, i) => preview(text, i)),
      ),
    'files of hostile commands': async () => {
      for (const [i, text] of Object.values(hostileCommands(255 * 1024)).entries())
        write(commandsPath(others[i]?.path ?? ''), text);
    },
    'files of hostile pages': async () => {
      for (const [i, text] of Object.values(texts).entries()) {
        const { path } = others[10 + i] as StageBot;
        editPage(clone, path, {});
        write(path, `---\n{ "name": "x", "description": "x", "authors": ["1"] }\n---\n\n${text}\n`);
      }
      await sendAll(
        service,
        Object.keys(texts).map((_, i) => ({
          method: 'GET',
          path: `/bots/${others[10 + i]?.id}`,
          headers: { 'X-Forwarded-For': addressOf(i) },
        })),
      );
    },
    'side files of hostile lists': async () => {
      const list = `[${'1,'.repeat(120_000)}1]`;
      write('blocked.json', `[${'"1",'.repeat(260_000)}"1"]`);
      write('collections/hostile.en.md', `---\n{ "title": "x", "bots": ${list} }\n---\n`);
      write('people/1.json', `{ "name": "x", "links": ${list} }`);
    },
    'a block list of faults below a million lines': async () => {
      const keys = Array.from({ length: 150 }, (_, i) => `"k${i}": 1`).join();
      write('blocked.json', `{${'\n'.repeat(2 ** 20 - 3000)}${keys}}`);
      await rest(1000);
    },
    'a push of a state of 40 shards of 60 MiB': async () => {
      const zeros = '\0'.repeat(60 * 2 ** 20);
      const shards = Array.from({ length: 40 }, (_, i) => `33/${10 + i}.json`);
      await push(shared, shards, zeros);
    },
    'a push of a state of bad lines and bad days': async () => {
      await push(shared, ['33/12.json'], 'bad\n'.repeat(2 ** 20));
      await push(shared, ['33/12.json'], 'bad\n'.repeat(2 ** 17));
      await push(shared, ['days/2026/11-01/x', 'days/2026/11-02'], `7 ${'1'.repeat(2 ** 20)}\n`);
    },
    'a push of ten million paths': async () => {
      git(person, 'fetch', '-q', 'origin');
      git(person, 'checkout', '-q', '-B', 'main', 'origin/main');
      const commit = commitHugeTree(
        { folder: person, git: (...args) => git(person, ...args).trim() },
        'more',
        'huge',
      );
      for (const ref of [`proposals/${bot.id}/1`, 'proposals/profile-1/1'])
        await runGit(person, 'push', '-q', '-f', 'origin', `${commit}:refs/botshelf/${ref}`);
      await sendAll(service, [{ method: 'GET', path: `/bots/${bot.id}`, headers: {} }]);
    },
    'a refused push with hostile messages': async () => {
      const lines = ['\u2028', ' \u2028', '"', 'a\u2028 '].map((text) => text.repeat(60_000 / text.length));
      writeFileSync(join(shared, 'hooks/message'), lines.join('\n'));
      writeFileSync(
        join(shared, 'hooks/pre-receive'),
        '#!/bin/sh\ncat "$(dirname "$0")/message" >&2\nexit 1\n',
        { mode: 0o755 },
      );
      await sendAll(service, [postBot(bot, '{"website":"https://example.org/{n}"}')]);
    },
    '1,000 streams from one /48': async () => {
      const port = Number(new URL(service.address).port);
      const sockets = Array.from({ length: 1000 }, (_, i) => {
        const address = `2001:db8:1:${i.toString(16)}::1`;
        const head = `GET /api/v2/changes HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nAccept: text/event-stream\r\n\r\n`;
        const socket = connect(port, '127.0.0.1').on('error', () => {});
        socket.write(head);
        return socket.resume();
      });
      await rest(5000);
      for (const socket of sockets) socket.destroy();
    },
  };
}

function putCommands({ id, token }: StageBot, body: string): LoadRequest {
  const headers = { Authorization: token, 'Content-Type': 'application/json' };
  return { method: 'PUT', path: `/api/v2/bots/${id}/commands`, headers, body };
}

function preview(text: string, i: number): LoadRequest {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'X-Forwarded-For': addressOf(i) };
  return { method: 'POST', path: '/add', headers, body: `name=x&page=${encodeURIComponent(text)}` };
}

function addressOf(i: number): string {
  return `203.0.${i >> 8}.${i & 255}`;
}

/** Sends all at the same time; a request that is refused is as good as any. */
async function sendAll({ address }: LoadedServer, requests: readonly LoadRequest[]): Promise<void> {
  await Promise.allSettled(requests.map(async (request) => await send(address, request, manyConnections)));
}

/** Sets the remote's state to a commit whose paths have the same text. */
async function push(remote: string, paths: readonly string[], text: string): Promise<void> {
  const tip = git(remote, 'rev-parse', 'refs/botshelf/state').trim();
  const files = paths.map((path) => importFile(path, text));
  await importCommits(remote, [
    `commit refs/botshelf/state\ncommitter Mallory <mallory@example.org> 1790000000 +0000\ndata 8\nSpoil it\nfrom ${tip}\ndeleteall\n`,
    ...files,
  ]);
  await rest(5000);
}

async function runGit(folder: string, ...args: string[]): Promise<void> {
  await once(spawn('git', args, { cwd: folder, stdio: 'inherit' }), 'close');
}
