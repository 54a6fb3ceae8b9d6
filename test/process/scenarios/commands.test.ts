import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { botshelf } from '../../support/command-line.ts';
import { type TestRepository, testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestServiceProcess, type TestServiceProcess } from '../../support/service.ts';
import { issueTestTokens } from '../../support/token.ts';

/** COMMANDS=100 BOTS=10000 POSTS=50 is the long run. */
const commands = Number(process.env['COMMANDS'] ?? 5);
const bots = Number(process.env['BOTS'] ?? 300);
const postsPerSecond = Number(process.env['POSTS'] ?? 20);

const owned = Array.from({ length: 20 }, (_, i) => String(i + 1));
const edited = Array.from({ length: commands }, (_, i) => String(i + 101));

describe('commands beside a service that takes posts', () => {
  let repository: TestRepository;
  let service: TestServiceProcess;
  let tokens: Map<string, string>;
  before(async () => {
    const ids = Array.from({ length: bots }, (_, i) => String(i + 1));
    repository = testRepository(Object.fromEntries(ids.map((id) => [pagePath(id), mainPage()])));
    tokens = await issueTestTokens(repository.folder, owned);
    service = await startTestServiceProcess({}, { root: repository.folder });
  });

  /** Posts until `work` has ended; returns the statuses, and the last website of each bot. */
  async function besidePosts(work: () => Promise<void>): Promise<[Set<number>, Map<string, string>]> {
    const statuses = new Set<number>();
    const last = new Map<string, string>();
    const posts: Promise<void>[] = [];
    const post = async (id: string, website: string): Promise<void> => {
      const { status } = await service.post(id, tokens.get(id) ?? '', { website });
      statuses.add(status);
    };
    const end = new AbortController();
    const posting = (async () => {
      for (let n = 0; !end.signal.aborted; n++) {
        const id = owned[n % owned.length] ?? '';
        last.set(id, `https://example.org/${n}`);
        posts.push(post(id, `https://example.org/${n}`));
        await sleep(1000 / postsPerSecond);
      }
    })();
    await work().finally(() => end.abort());
    await posting;
    await Promise.all(posts);
    return [statuses, last];
  }

  it('make their changes, revert no post, and end when the change is served', async function () {
    this.timeout(120_000 + commands * 60_000);
    const [statuses, last] = await besidePosts(async () => {
      for (const id of edited) {
        const set = await botshelf(repository.folder, ['bots', id, '--set', 'category=games', '--yes']);
        deepStrictEqual([set.code, set.stderr], [0, '1 bot changed.\n'], set.stderr);
        strictEqual((await service.request(`/api/v2/bots/${id}`)).json.category, 'games');
        const block = await botshelf(repository.folder, ['block', 'account', `9${id}`]);
        deepStrictEqual([block.code, block.stderr], [0, `The account 9${id} is blocked.\n`]);
      }
    });
    deepStrictEqual([...statuses], [200]);
    strictEqual(repository.status(), '');
    for (const id of edited) match(repository.git('show', `HEAD:${pagePath(id)}`), /"category": "games"/);
    const { accounts } = JSON.parse(repository.git('show', 'HEAD:blocked.json'));
    deepStrictEqual(
      Object.keys(accounts),
      edited.map((id) => `9${id}`),
    );
    for (const [id, website] of last)
      strictEqual((await service.request(`/api/v2/bots/${id}`)).json.website, website);
    strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
  });
});
