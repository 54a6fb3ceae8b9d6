import { execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BotId } from '../src/bot/id.ts';
import { freePort } from '../test/support/loopback.ts';
import { type LoadedServer, type ReceivedResponse, send } from './load.ts';
import { type RunningChild, type ServerProcess, startServer, watchOver } from './processes.ts';
import type { Stage, StageBot } from './stage.ts';

/*
 * What the service is compared with. This file is also the program of each peer, whose name is its first argument; each
 * imports its own libraries only.
 */

/** Starts Fastify with the responses of the service in memory: the first request for each path is passed on. */
export async function startReads({ address }: LoadedServer): Promise<ServerProcess> {
  return await startPeer('fastify-reads', [address]);
}

/** Starts Koa with its router and the journal of counts: no token, no validation, no limits, no metrics. */
export async function startKoaCounts(stage: Stage): Promise<ServerProcess> {
  return await startPeer('koa-counts', [join(stage.tempFolder(), 'journal')]);
}

/**
 * Starts Fastify with Debian's PostgreSQL as it is configured after installation, commits waiting for the disk, and a table
 * of the stage's bots. Returns undefined if PostgreSQL is not installed.
 */
export async function startPostgresCounts(stage: Stage): Promise<ServerProcess | undefined> {
  const installed = '/usr/lib/postgresql';
  const versions = existsSync(installed) ? readdirSync(installed).map(Number) : [];
  const programs = join(installed, String(Math.max(0, ...versions)), 'bin');
  if (!existsSync(join(programs, 'initdb'))) return undefined;
  // It does not run as root; its package comes with a user for it.
  const idOf = (flag: '-u' | '-g'): number => Number(execFileSync('id', [flag, 'postgres']));
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  const folder = stage.tempFolder();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const options = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'];
  execFileSync(join(programs, 'initdb'), options, {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const port = await freePort();
  const settings = [`port=${port}`, `unix_socket_directories=${folder}`, 'synchronous_commit=on', 'fsync=on'];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(join(programs, 'postgres'), args, {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const running = watchOver(child, 'SIGQUIT');
  await fillPostgres(port, stage.bots, running);
  const server = await startPeer('postgres-counts', [String(port)]);
  const dispose = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    await running.stop('SIGINT');
  };
  return { ...server, [Symbol.asyncDispose]: dispose };
}

async function fillPostgres(port: number, bots: readonly StageBot[], running: RunningChild): Promise<void> {
  const { Client } = await import('pg');
  for (;;) {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres' });
    try {
      await client.connect();
    } catch (error) {
      if (running.ended) throw new Error(`postgres ended: ${running.lastWords}`, { cause: error });
      await rest(50);
      continue;
    }
    await client.query(
      'CREATE TABLE bots (id text PRIMARY KEY, token text UNIQUE, count bigint, counted_at timestamptz)',
    );
    await client.query('INSERT INTO bots (id, token) SELECT * FROM unnest($1::text[], $2::text[])', [
      bots.map(({ id }) => id),
      bots.map(({ token }) => hash('sha256', token)),
    ]);
    await client.query('VACUUM ANALYZE bots');
    await client.query('CHECKPOINT');
    await client.end();
    return;
  }
}

/** Starts Fastify with SQLite and a table of the stage's bots. Returns undefined if better-sqlite3 is not installed. */
export async function startSqliteCounts(stage: Stage): Promise<ServerProcess | undefined> {
  const file = join(stage.tempFolder(), 'bots.db');
  let database: SqliteDatabase;
  try {
    database = openSqlite(file);
  } catch {
    return undefined;
  }
  database.exec(
    'CREATE TABLE bots (id TEXT PRIMARY KEY, token TEXT UNIQUE, count INTEGER, counted_at INTEGER) WITHOUT ROWID',
  );
  const insert = database.prepare('INSERT INTO bots (id, token) VALUES (?, ?)');
  database.exec('BEGIN');
  for (const { id, token } of stage.bots) insert.run(id, hash('sha256', token));
  database.exec('COMMIT');
  database.close();
  return await startPeer('sqlite-counts', [file]);
}

/** What is used of better-sqlite3, which is installed by hand because it has to be compiled. */
interface SqliteDatabase {
  pragma(text: string): unknown;
  exec(sql: string): void;
  prepare(sql: string): {
    run(...values: unknown[]): { readonly changes: number };
    get(...values: unknown[]): unknown;
  };
  close(): void;
}

/** Opens a database that waits for the disk on every commit. @throws {Error} if better-sqlite3 is not installed */
function openSqlite(file: string): SqliteDatabase {
  const Database = createRequire(import.meta.url)('better-sqlite3') as new (file: string) => SqliteDatabase;
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  return database;
}

async function startPeer(name: string, args: readonly string[]): Promise<ServerProcess> {
  return await startServer({ command: ['bench/peers.js', name, ...args], readyPath: '/ready' });
}

const port = Number(process.env['PORT']);

/** The program of each peer, called with its other argument. */
const programs: Readonly<Record<string, (argument: string) => Promise<void>>> = {
  'fastify-reads': async (address) => {
    const { fastify } = await import('fastify');
    const addedByNode = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];
    const responses = new Map<string, PeerResponse>();
    const store = async ({ url: path, headers: { 'accept-encoding': encoding } }: FastifyRequest) => {
      const request = { 'Accept-Encoding': encoding ?? 'identity' };
      const { headers, body } = await send(address, { method: 'GET', path, headers: request });
      const kept = Object.entries(headers).filter(([name]) => !addedByNode.includes(name));
      const unchanged = kept.filter(([name]) => !name.startsWith('content-'));
      const [all, notModified] = [Object.fromEntries(kept), Object.fromEntries(unchanged)];
      responses.set(path, { headers: all, notModifiedHeaders: notModified, body });
    };
    const respond = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
      const found = responses.get(request.url);
      if (found === undefined) {
        void store(request).then(() => respond(request, reply));
        return reply;
      }
      if (request.headers['if-none-match'] === found.headers['etag'])
        return reply.code(304).headers(found.notModifiedHeaders).send();
      return reply.headers(found.headers).send(found.body);
    };
    const app = fastify();
    app.get('/ready', (_, reply) => reply.send({ ready: true }));
    app.get('/api/v2/bots', respond);
    app.get('/api/v2/bots/:id', respond);
    await app.listen({ host: '127.0.0.1', port });
  },

  'koa-counts': async (folder) => {
    const { Router } = await import('@koa/router');
    const { default: Koa } = await import('koa');
    const { default: getRawBody } = await import('raw-body');
    const { silentLog } = await import('../src/lib/log.ts');
    const { Journal } = await import('../src/counts/journal.ts');
    const journal = new Journal({ folder, log: silentLog, onDurable: () => {} });
    const router = new Router();
    router.get('/ready', (ctx) => {
      ctx.body = '';
    });
    router.post('/api/v2/bots/:id', async (ctx) => {
      const { bot } = JSON.parse(await getRawBody(ctx.req, 'utf8')) as { bot: { count: number } };
      await journal.append({ id: ctx.params['id'] as BotId, count: bot.count, countedAt: Date.now() });
      ctx.body = { bot, commit: null };
    });
    new Koa().use(router.routes()).listen(port, '127.0.0.1');
  },

  'postgres-counts': async (databasePort) => {
    const { Pool } = await import('pg');
    const pool = new Pool({ host: '127.0.0.1', port: Number(databasePort), user: 'postgres', max: 32 });
    // One statement finds the row, checks the token and sets the count; only if it found none a second one says why.
    await serveCounts(async (id, tokenDigest, count) => {
      const { rowCount } = await pool.query({
        name: 'count',
        text: 'UPDATE bots SET count = $1, counted_at = now() WHERE id = $2 AND token = $3',
        values: [count, id, tokenDigest],
      });
      if (rowCount === 1) return 'done';
      const { rows } = await pool.query('SELECT 1 FROM bots WHERE id = $1', [id]);
      return rows.length === 0 ? 'no bot' : 'other token';
    });
  },

  'sqlite-counts': async (file) => {
    const database = openSqlite(file);
    const begin = database.prepare('BEGIN IMMEDIATE');
    const commit = database.prepare('COMMIT');
    const update = database.prepare('UPDATE bots SET count = ?, counted_at = ? WHERE id = ? AND token = ?');
    const find = database.prepare('SELECT 1 FROM bots WHERE id = ?');
    // The writes of a tick become one transaction.
    let waiting: (() => () => void)[] = [];
    const writeAll = (): void => {
      const writes = waiting;
      waiting = [];
      begin.run();
      const responses = writes.map((write) => write());
      commit.run();
      for (const respond of responses) respond();
    };
    await serveCounts(
      async (id, tokenDigest, count) =>
        await new Promise((resolve) => {
          if (waiting.length === 0) setImmediate(writeAll);
          waiting.push(() => {
            const { changes } = update.run(count, Date.now(), id, tokenDigest);
            const result = changes === 1 ? 'done' : find.get(id) === undefined ? 'no bot' : 'other token';
            return () => resolve(result);
          });
        }),
    );
  },

  // Reads every file in the folders of a folder once, one folder after the other, and does nothing else.
  'read-files': async (top) => {
    for (const name of readdirSync(top)) {
      const folder = join(top, name);
      await Promise.all(readdirSync(folder).map(async (file) => await readFile(join(folder, file))));
    }
  },
};

/** With the headers of the service, all of them and those of a 304. */
interface PeerResponse extends Pick<ReceivedResponse, 'headers' | 'body'> {
  readonly notModifiedHeaders: ReceivedResponse['headers'];
}

/**
 * Serves posts of counts with Fastify, which checks the body against a schema.
 * @param setCount - resolves when the count is durable.
 */
async function serveCounts(
  setCount: (id: string, tokenDigest: string, count: number) => Promise<'done' | 'no bot' | 'other token'>,
): Promise<void> {
  const { fastify } = await import('fastify');
  const app: FastifyInstance = fastify();
  const count = { type: 'integer', minimum: 0, maximum: 10_000_000_000 };
  const toObject = (properties: Record<string, object>): object => ({
    type: 'object',
    additionalProperties: false,
    required: Object.keys(properties),
    properties,
  });
  const schema = { body: toObject({ bot: toObject({ count }) }) };
  app.get('/ready', (_, reply) => reply.send({ ready: true }));
  app.post<{
    readonly Params: { readonly id: string };
    readonly Body: { readonly bot: { readonly count: number } };
  }>('/api/v2/bots/:id', { schema }, async (request, reply) => {
    const { bot } = request.body;
    const digest = hash('sha256', request.headers.authorization ?? '');
    const result = await setCount(request.params.id, digest, bot.count);
    if (result === 'done') return { bot: { count: bot.count }, commit: null };
    return await reply.code(result === 'no bot' ? 404 : 401).send({ title: result });
  });
  await app.listen({ host: '127.0.0.1', port });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await programs[process.argv[2] ?? '']?.(process.argv[3] ?? '');
