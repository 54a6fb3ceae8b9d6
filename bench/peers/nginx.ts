import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { freePort, watchOver } from '../child.ts';
import type { LoadedServer } from '../cost.ts';
import type { Stage } from '../stage.ts';
import type { StoredResponse } from './stored-responses.ts';

/**
 * Starts nginx with one worker, which serves the responses' bodies from files; its ETags are its own. Returns undefined where
 * it is not installed.
 */
export async function startNginx(
  stage: Stage,
  responses: readonly StoredResponse[],
): Promise<NginxServer | undefined> {
  const folder = stage.tempFolder();
  for (const { path, base64 } of responses) {
    const file = join(folder, 'files', `${path}.body`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Buffer.from(base64, 'base64'));
  }
  chmodSync(folder, 0o755);
  return await runNginx(folder, (port) => serveFiles(folder, port, responses));
}

/** Starts nginx with one worker in front of servers, which get the requests in turn. Undefined where it is not installed. */
export async function startProxy(
  stage: Stage,
  servers: readonly LoadedServer[],
): Promise<NginxServer | undefined> {
  const lines = servers.map(({ address }) => `server ${new URL(address).host};`).join(' ');
  return await runNginx(
    stage.tempFolder(),
    (port) => `
  upstream machines { ${lines} keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location / { proxy_pass http://machines; }
  }`,
  );
}

export type NginxServer = LoadedServer & AsyncDisposable;

async function runNginx(
  folder: string,
  toServers: (port: number) => string,
): Promise<NginxServer | undefined> {
  if (spawnSync(program, ['-v']).error !== undefined) return undefined;
  const port = await freePort();
  const configuration = join(folder, 'nginx.conf');
  writeFileSync(configuration, configurationOf(folder, toServers(port)));
  const child = spawn(program, ['-c', configuration, '-p', folder, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const running = watchOver(child, 'SIGTERM');
  const address = `http://127.0.0.1:${port}`;
  while (!(await isUp(address))) {
    if (running.ended) throw new Error(`nginx ended: ${running.lastWords()}`);
    await rest(20);
  }
  return {
    address,
    pids: [child.pid ?? 0],
    [Symbol.asyncDispose]: async () => await running.stop('SIGTERM'),
  };
}

const program = '/usr/sbin/nginx';

function serveFiles(folder: string, port: number, responses: readonly StoredResponse[]): string {
  const headers = new Map(responses.flatMap(({ headers: all }) => Object.entries(all)));
  const added = [...headers].filter(([name]) => !['etag', 'content-type', 'content-encoding'].includes(name));
  const lines = added.map(([name, value]) => `add_header ${name} "${value}" always;`).join('\n    ');
  const encoded = responses.filter(({ headers: all }) => all['content-encoding'] !== undefined);
  const encodings = encoded.map(({ path, headers: all }) => `"${path}" ${all['content-encoding'] ?? ''};`);
  return `
  sendfile on;
  tcp_nopush on;
  open_file_cache max=2000 inactive=1h;
  open_file_cache_valid 1h;
  map $uri $coding { default ""; ${encodings.join(' ')} }
  server {
    listen 127.0.0.1:${port};
    root ${folder}/files;
    ${lines}
    add_header Content-Encoding $coding;
    location / { try_files $uri.body =404; }
  }`;
}

/** @param servers what is in the part `http`, besides what all have */
function configurationOf(folder: string, servers: string): string {
  return `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
  access_log off;
  server_tokens off;
  keepalive_requests 1000000000;
  default_type application/json;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n  ')}
${servers}
}
`;
}

async function isUp(address: string): Promise<boolean> {
  return await fetch(address).then(
    () => true,
    () => false,
  );
}
