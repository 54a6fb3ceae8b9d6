import { execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort, type RunningChild, watchOver } from '../child.ts';
import type { Stage, StageBot } from '../stage.ts';

/** A PostgreSQL of our own on the loopback interface. Disposing of it stops it. */
export interface Database extends AsyncDisposable {
  readonly port: number;
  /** The server's first process, the parent of all others. */
  readonly pid: number;
}

/**
 * Starts Debian's PostgreSQL as it is configured after installation, commits waiting for the disk, with a table of
 * the stage's bots. Returns undefined where it is not installed.
 */
export async function startPostgres(stage: Stage): Promise<Database | undefined> {
  const programs = findPrograms();
  if (programs === undefined) return undefined;
  const user = serverUser();
  const folder = stage.tempFolder();
  chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const port = await freePort();
  const settings = [`port=${port}`, `unix_socket_directories=${folder}`, 'synchronous_commit=on', 'fsync=on'];
  const child = spawn(
    join(programs, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const running = watchOver(child, 'SIGQUIT');
  await fill(await connect(port, running), stage.bots);
  return { port, pid: child.pid ?? 0, [Symbol.asyncDispose]: async () => await running.stop('SIGINT') };
}

const installed = '/usr/lib/postgresql';

function findPrograms(): string | undefined {
  const versions = existsSync(installed) ? readdirSync(installed) : [];
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0];
  const programs = join(installed, newest ?? '', 'bin');
  return existsSync(join(programs, 'initdb')) ? programs : undefined;
}

/** PostgreSQL does not run as root; its package comes with a user for it. */
function serverUser(): { uid: number; gid: number } {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return { uid, gid: process.getgid?.() ?? 0 };
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}

async function connect(port: number, running: RunningChild): Promise<Client> {
  for (;;) {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres' });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (running.ended) throw new Error(`postgres ended: ${running.lastWords()}`, { cause: error });
      await rest(50);
    }
  }
}

async function fill(client: Client, bots: readonly StageBot[]): Promise<void> {
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
}
