import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { findGitProcesses, parseCommand } from '../../src/git/leftovers.ts';
import { testRepository } from '../support/repository.ts';
import { eventually } from '../support/eventually.ts';
import { clearedLock } from '../support/service-log.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { issueTestTokens } from '../support/token.ts';
import { servesAnswers } from './power-loss/aftermath.ts';
import { files, ids, type Posted, startPosting } from './power-loss/owners.ts';

/** The short form kills at instants that are spread evenly, the long one (npm run crash) at random ones. */
const rounds = Number(process.env['CRASH_ROUNDS'] ?? 2);
const isLong = process.env['CRASH_ROUNDS'] !== undefined;
const kinds = ['count', 'website'] as const;

describe(`a service that is killed ${rounds} times while owners post`, () => {
  it('has every answered write after each restart, none half, and a sound repository', async function () {
    const repo = testRepository(files);
    const tokens = await issueTestTokens(repo.folder, ids);
    const posted: Posted = { answers: new Map(), sent: new Map() };
    const gitDir = join(repo.folder, '.git');
    const place = { folder: repo.folder, gitDir, commonDir: gitDir };
    const start = async (): Promise<ServiceProcess> => {
      const service = await startServiceProcess(repo.folder, { BOTSHELF_STATE_SECONDS: '1' });
      service.allowLog(clearedLock);
      await servesAnswers(service.address, posted.answers, posted.sent);
      return service;
    };
    this.timeout(60_000 + rounds * 20_000);
    for (let round = 0; round < rounds; round++) {
      const service = await start();
      const posting = startPosting(service.address, tokens, kinds, posted, round * 10_000);
      if (round === 0) await eventually(() => posted.answers.size === kinds.length * ids.length);
      await rest(isLong ? Math.random() * 400 : (400 * round) / rounds);
      await service.end('SIGKILL');
      await posting.end();
      if (isLong && round % 500 === 499) process.stdout.write(`    ${round + 1} kills, none lost\n`);
      if (round % 10 === 9) {
        // A git that outlives the service may still write what fsck would miss.
        await eventually(async () => {
          const { seen } = await findGitProcesses(place);
          const left = seen.map(parseCommand).filter((command) => command !== 'cat-file');
          deepStrictEqual(left, []);
        });
        repo.git('fsck', '--strict');
      }
    }
    // As a kill leaves them in the middle of a write.
    const unfinished = ['var/.index.snapshot.1.1.tmp', '.git/botshelf/.intents.1.1.tmp'].map((path) =>
      join(repo.folder, path),
    );
    for (const path of unfinished) writeFileSync(path, '');
    const last = await start();
    deepStrictEqual(unfinished.filter(existsSync), []);
    await eventually(() => strictEqual(repo.status(), ''));
    strictEqual(await last.end('SIGTERM'), 0);
    repo.git('fsck', '--strict');
  });
});
