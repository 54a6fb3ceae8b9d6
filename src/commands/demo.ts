import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDemoConfig } from '../app/config.ts';

/** Serves the demo until SIGINT, SIGTERM or SIGHUP, and deletes it. */
export async function demo(): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'botshelf-demo-')));
  // Not in a finally block: an uncaught error ends the process too.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const config = readDemoConfig(folder, await findFreePort());
  // Loaded while the demo is made.
  const [{ createLog, silentLog }, { startService }, { bots, id, token }] = await Promise.all([
    import('../lib/log.ts'),
    import('../app/service.ts'),
    import('./demo-catalogue.ts').then(async ({ makeDemo }) => await makeDemo(folder)),
  ]);
  const log = await createLog();
  const service = await startService(config, {
    ...silentLog,
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  });
  process.stdout.write(`A demo with ${bots} invented bots is ready at ${service.address}

Its catalogue is a Git repository: ${folder}
Edit a file in its bots/ and reload the page. Press Ctrl-C to end the demo and delete the folder.

Post a count:
curl ${service.address}/api/v2/bots/${id} -H 'Authorization: ${token}' -H 'Content-Type: application/json' -d '{"bot": {"count": 156}}'
Nobody can log in to a demo; docs/login.md says how authors log in to a service of your own.
`);
  await ended;
  await service.close();
}

/** Returns a port on the loopback address that nothing listens on. */
async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
