import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDemoConfig } from '../app/config.ts';
import { toAddressError } from '../http/server.ts';
import { formatAddress } from '../lib/network.ts';
import { DemoProvider } from '../login/demo-provider.ts';

/** Serves the demo until SIGINT, SIGTERM or SIGHUP, and deletes it. */
export async function demo(): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'botshelf-demo-')));
  // Not in a finally block: an uncaught error ends the process too.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const settings = readDemoConfig(folder, new DemoProvider());
  const { host } = settings;
  const port = await findFreePort(host, settings.port);
  // The printed address, so that the login can return to the page that it began on.
  const baseUrl = formatAddress(/^(?:0\.0\.0\.0|::)$/.test(host) ? 'localhost' : host, port);
  // Loaded while the demo is made.
  const [{ createLog, silentLog }, { startService }, { bots, id, token }] = await Promise.all([
    import('../lib/log.ts'),
    import('../app/service.ts'),
    import('./demo-catalogue.ts').then(async ({ makeDemo }) => await makeDemo(folder)),
  ]);
  const log = await createLog();
  const config = { ...settings, port, baseUrl };
  const service = await startService(config, {
    ...silentLog,
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  });
  process.stdout.write(`A demo with ${bots} invented bots is ready at ${baseUrl}

Its catalogue is a Git repository: ${folder}
Edit a file in its bots/ and reload the page. Press Ctrl-C to end the demo and delete the folder.

Review a proposal: log in at ${baseUrl}/login as Marge, the maintainer. No password is asked for.

Post a count:
curl ${baseUrl}/api/v2/bots/${id} -H 'Authorization: ${token}' -H 'Content-Type: application/json' -d '{"bot": {"count": 156}}'
`);
  await ended;
  await service.close();
}

/** Returns a port that nothing listens on: `port`, or any for 0. @throws {UserError} if it is taken */
async function findFreePort(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw toAddressError(error, host, port, 'PORT');
  });
  const address = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return address.port;
}
