import { deepStrictEqual, match, ok, rejects, strictEqual, throws } from 'node:assert/strict';
import { isUnavailable, toWriteError } from '../../src/bot/errors.ts';
import type { Catalogue } from '../../src/catalogue/catalogue.ts';
import type { StateStore } from '../../src/counts/state-store.ts';
import { createPageEditor, createUpdates } from '../../src/http/api/api.ts';
import { RateLimit } from '../../src/http/limits.ts';
import { ProblemError, toProblem } from '../../src/http/problem.ts';
import { committerWith } from '../support/committing.ts';
import { openCatalogue } from '../support/live-catalogue.ts';
import { newPlace, open, type Place } from '../support/place.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath } from '../support/sample.ts';

const path = pagePath('7');

describe('an update', () => {
  const id = botId('7');
  let repository: TestRepository;
  let place: Place;
  let counts: StateStore;
  let catalogue: Catalogue;
  let apply: ReturnType<typeof createUpdates>;
  beforeEach(async () => {
    repository = testRepository({ [path]: mainPage() });
    ({ catalogue } = await openCatalogue({}, { root: repository.folder }));
    place = newPlace();
    counts = await open(place);
    const { bots } = catalogue.store;
    const limits = { content: new RateLimit('content', 0), commands: new RateLimit('commands', 0) };
    apply = createUpdates(bots, committerWith(createPageEditor(bots), repository.folder), counts, limits);
  });

  it('fails where its count cannot be saved, with content or without', async () => {
    await counts.close();
    for (const values of [{ count: 9 }, { category: 'music', count: 9 }])
      await rejects(apply(id, values), isUnavailable);
  });

  it('says that its keys are saved where its count cannot be, and takes the same again', async () => {
    const setCount = counts.setCount.bind(counts);
    counts.setCount = async () => await Promise.reject(toWriteError({ code: 'ENOSPC' }));
    const values = { category: 'music', count: 9 } as const;
    const failed = await apply(id, values).catch((error: unknown) => toProblem(error));
    ok(failed instanceof ProblemError);
    match(failed.message, /^the keys are saved, but the count is not: send the count again later$/);
    deepStrictEqual([failed.status, failed.headers['Retry-After']], [503, '30']);
    match(repository.git('show', `HEAD:${path}`), /"category": "music"/);
    await rejects(apply(id, values), (error) => !/keys/.test(toProblem(error).message), 'no key differed');
    counts.setCount = setCount;
    strictEqual(await apply(id, values), null);
    strictEqual(counts.count(id), 9);
  });

  it('changes nothing of a bot that is not the expected one, or that there is not', async () => {
    const head = repository.git('rev-parse', 'HEAD');
    for (const values of [{ count: 9 }, { category: 'music', count: 9 }]) {
      await rejects(
        apply(id, values, () => false),
        { code: 'precondition-failed' },
      );
      await rejects(apply(botId('8'), values), { code: 'unknown-bot' });
    }
    strictEqual(counts.count(id), undefined);
    strictEqual(repository.git('rev-parse', 'HEAD'), head);
  });

  it('is not made in a file that a person has changed since it was read, where the bot before is expected', () => {
    const { bots } = catalogue.store;
    const digest = bots.get(id)?.digest;
    const edit = (text: string | null, expected = digest): string | null =>
      createPageEditor(bots).edit(text, {
        id,
        name: 'Homer',
        path,
        values: { category: 'music' },
        digest: expected,
        ensureMayCommit: () => {},
      });
    match(edit(mainPage()) ?? '', /"category": "music"/);
    for (const text of [mainPage({ category: 'games' }), null])
      throws(() => edit(text), { code: 'precondition-failed' });
    throws(() => edit(mainPage(), 'another'), { code: 'precondition-failed' });
  });
});
