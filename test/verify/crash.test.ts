import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { findGitProcesses, parseCommand } from '../../src/git/leftovers.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { eventually } from '../support/eventually.ts';
import { countsOf } from '../support/posted-counts.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { clearedLock } from '../support/service-log.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { issueTestToken } from '../support/token.ts';
import { updateRequest } from '../support/update-request.ts';

/** The short form kills at instants that are spread evenly, the long one (npm run crash) at random ones. */
const rounds = Number(process.env['CRASH_ROUNDS'] ?? 2);
const isLong = process.env['CRASH_ROUNDS'] !== undefined;
const categories = ['fun', 'games', 'music', 'news', 'other', 'utility'];

/** An owner who posts ever greater numbers, as counts or as content, and remembers what was answered. */
class Owner {
  readonly id: string;
  readonly token: string;
  counts = { answered: 0, sent: 0 };
  contents = { answered: 0, sent: 0 };

  constructor(id: string, token: string) {
    this.id = id;
    this.token = token;
  }

  /** Posts one after the other until the service is gone. */
  async post(address: string, kind: 'counts' | 'contents'): Promise<void> {
    for (;;) {
      const number = ++this[kind].sent;
      const bot = kind === 'counts' ? { count: number } : contentOf(number);
      try {
        const response = await fetch(`${address}/api/v2/bots/${this.id}`, updateRequest(this.token, bot));
        const text = await response.text();
        strictEqual(response.status, 200, text);
        this[kind].answered = number;
      } catch (error) {
        if (error instanceof TypeError) return;
        throw error;
      }
    }
  }
}

describe(`a service that is killed ${rounds} times while owners post`, () => {
  let repo: TestRepository;
  let owners: Owner[];
  before(async () => {
    repo = testRepository({
      ...Object.fromEntries(['1', '2', '3', '4'].map((id) => [pagePath(id), mainPage({ website: null })])),
      [pagePath('9')]: mainPage(),
    });
    owners = [];
    for (const id of ['1', '2', '3', '4']) owners.push(new Owner(id, await issueTestToken(repo.folder, id)));
  });

  it('has every answered write after each restart, none half, and a sound repository', async function () {
    const gitDir = join(repo.folder, '.git');
    const place = { folder: repo.folder, gitDir, commonDir: gitDir };
    this.timeout(60_000 + rounds * 20_000);
    for (let round = 0; round < rounds; round++) {
      const service = await startServiceProcess(repo.folder, { BOTSHELF_STATE_SECONDS: '1' });
      service.allowLog(clearedLock);
      await holdsWhatWasAnswered(service);
      const posting = owners.flatMap((owner) => [
        owner.post(service.address, 'counts'),
        owner.post(service.address, 'contents'),
      ]);
      if (round === 0) await eventually(() => owners.every(hasAnswers));
      await rest(isLong ? Math.random() * 400 : (400 * round) / rounds);
      await service.end('SIGKILL');
      await Promise.all(posting);
      if (isLong && round % 500 === 499) process.stdout.write(`    ${round + 1} kills, none lost\n`);
      if (round % 10 === 9) {
        // A git that outlives the service may still write what fsck would miss.
        await eventually(async () => {
          const { seen } = await findGitProcesses(place);
          deepStrictEqual(
            seen.map(parseCommand).filter((command) => command !== 'cat-file'),
            [],
          );
        });
        repo.git('fsck', '--strict');
      }
    }
    // As a kill leaves them in the middle of a write.
    const unfinished = ['var/.index.snapshot.1.1.tmp', '.git/botshelf/.intents.1.1.tmp'].map((path) =>
      join(repo.folder, path),
    );
    for (const path of unfinished) writeFileSync(path, '');
    const last = await startServiceProcess(repo.folder);
    last.allowLog(clearedLock);
    deepStrictEqual(unfinished.filter(existsSync), []);
    await holdsWhatWasAnswered(last);
    await eventually(() => strictEqual(repo.status(), ''));
    strictEqual(await last.end('SIGTERM'), 0);
    repo.git('fsck', '--strict');
  });

  async function holdsWhatWasAnswered(service: ServiceProcess): Promise<void> {
    const counts = await countsOf(service.address);
    for (const owner of owners) {
      const count = counts.get(owner.id) ?? 0;
      ok(
        count >= owner.counts.answered && count <= owner.counts.sent,
        `count ${count}, ${JSON.stringify(owner.counts)}`,
      );
      const response = await fetch(`${service.address}/api/v2/bots/${owner.id}`);
      const { website, category } = (await response.json()) as { website: string | null; category: string };
      const number = Number(website?.split('/').at(-1) ?? 0);
      ok(
        number >= owner.contents.answered && number <= owner.contents.sent,
        `${website}, ${JSON.stringify(owner.contents)}`,
      );
      if (number > 0) strictEqual(category, contentOf(number).category, 'a change is whole');
    }
  }
});

function hasAnswers({ counts, contents }: Owner): boolean {
  return counts.answered > 0 && contents.answered > 0;
}

function contentOf(number: number): { website: string; category: string } {
  return {
    website: `https://example.org/${number}`,
    category: categories[number % categories.length] ?? 'fun',
  };
}
