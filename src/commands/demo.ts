import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { BotId } from '../bot/id.ts';
import type { Token } from '../bot/token.ts';
import { readDemoConfig } from '../app/config.ts';
import { commitAll, copyTemplate } from './init.ts';

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

Post a count:
curl ${service.address}/api/v2/bots/${id} -H 'Authorization: ${token}' -H 'Content-Type: application/json' -d '{"bot": {"count": 156}}'
Nobody can log in to a demo; docs/login.md says how authors log in to a service of your own.
`);
  await ended;
  await service.close();
}

/** Makes the catalogue, its counts and its pictures. Returns the number of bots, and one of them with its token. */
async function makeDemo(folder: string): Promise<{ bots: number; id: BotId; token: Token }> {
  const [
    { generateFiles, toDemoId, readDemoBots },
    { fillImageCache },
    { generateHistory },
    fastImport,
    refs,
    { RepositoryOpener },
    { createStateRef },
    { CommittedState },
    { State },
    { issueToken },
    { silentLog },
  ] = await Promise.all([
    import('./demo-bots.ts'),
    import('./demo-images.ts'),
    import('./demo-counts.ts'),
    import('../git/commit/fast-import.ts'),
    import('../git/refs.ts'),
    import('../git/repository.ts'),
    import('../counts/git-state-ref.ts'),
    import('../counts/committed-state.ts'),
    import('../counts/state.ts'),
    import('../tokens/token-changes.ts'),
    import('../lib/log.ts'),
  ]);
  const now = Date.now();
  const bots = readDemoBots();
  const filling = fillImageCache(join(folder, 'var/appdata'), bots);
  copyTemplate(folder, false, 'github');
  for (const [path, text] of bots.flatMap((bot) => [...generateFiles(bot, now)])) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  await commitAll(folder, 'main');
  const opener = new RepositoryOpener(folder);
  await fastImport.importHistory(await opener.open(), refs.stateRef, generateHistory(bots, now));
  const [id] = bots.map(toDemoId) as [BotId];
  const state = new CommittedState(createStateRef(opener, silentLog), new State(), silentLog);
  const token = await issueToken(state, id, 'the demo');
  opener.close();
  await filling;
  return { bots: bots.length, id, token };
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
