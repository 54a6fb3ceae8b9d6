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
): Promise<(LoadedServer & AsyncDisposable) | undefined> {
  if (spawnSync(program, ['-v']).error !== undefined) return undefined;
  const folder = stage.tempFolder();
  for (const { path, base64 } of responses) {
    const file = join(folder, 'files', `${path}.body`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Buffer.from(base64, 'base64'));
  }
  chmodSync(folder, 0o755);
  const port = await freePort();
  const configuration = join(folder, 'nginx.conf');
  writeFileSync(configuration, configurationOf(folder, port, responses));
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

function configurationOf(folder: string, port: number, responses: readonly StoredResponse[]): string {
  const headers = new Map(responses.flatMap(({ headers: all }) => Object.entries(all)));
  const added = [...headers].filter(([name]) => !['etag', 'content-type', 'content-encoding'].includes(name));
  const lines = added.map(([name, value]) => `add_header ${name} "${value}" always;`).join('\n    ');
  const encoded = responses.filter(({ headers: all }) => all['content-encoding'] !== undefined);
  const encodings = encoded.map(({ path, headers: all }) => `"${path}" ${all['content-encoding'] ?? ''};`);
  return `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
  access_log off;
  server_tokens off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  open_file_cache max=2000 inactive=1h;
  open_file_cache_valid 1h;
  default_type application/json;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n  ')}
  map $uri $coding { default ""; ${encodings.join(' ')} }
  server {
    listen 127.0.0.1:${port};
    root ${folder}/files;
    ${lines}
    add_header Content-Encoding $coding;
    location / { try_files $uri.body =404; }
  }
}
`;
}

async function isUp(address: string): Promise<boolean> {
  return await fetch(address).then(
    () => true,
    () => false,
  );
}
