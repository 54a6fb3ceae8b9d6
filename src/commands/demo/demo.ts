import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readDemoConfig } from '../../config.ts';
import { commitAll, copyTemplate } from '../init.ts';

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
  const [{ createLog, silentLog }, { startService }, bots] = await Promise.all([
    import('../../log.ts'),
    import('../../service/service.ts'),
    makeDemo(folder),
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
`);
  await ended;
  await service.close();
}

/** Makes the catalogue, its counts and its pictures. Returns the number of bots. */
async function makeDemo(folder: string): Promise<number> {
  const [
    { filesOf, readDemoBots },
    { fillImageCache },
    { stateHistory },
    fastImport,
    refs,
    { openRepository },
  ] = await Promise.all([
    import('./demo-bots.ts'),
    import('./demo-pictures.ts'),
    import('./demo-counts.ts'),
    import('../../git/commit/fast-import.ts'),
    import('../../git/refs.ts'),
    import('../../git/repository.ts'),
  ]);
  const now = Date.now();
  const bots = readDemoBots();
  const filling = fillImageCache(join(folder, 'var/appdata'), bots);
  copyTemplate(folder, false, 'github');
  for (const [path, text] of bots.flatMap((bot) => [...filesOf(bot, now)])) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  await commitAll(folder, 'main');
  const repository = await openRepository(folder);
  await fastImport.importHistory(repository, refs.stateRef, stateHistory(bots, now));
  repository.objects.close();
  await filling;
  return bots.length;
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
