import { deepStrictEqual } from 'node:assert/strict';
import { maxLeadMs } from '../../src/bot/clock.ts';
import { findKeyWriter, type KeyWriter, readPageHistory } from '../../src/sync/merge-files.ts';
import { openUntilEnd } from '../support/opened.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';

const path = pagePath('312');
const post = 'Update\n\nBot: 312';

describe('who set a key of a page', () => {
  let clone: TestRepository;
  let base: string;

  beforeEach(() => {
    clone = testRepository({ [path]: mainPage({ website: null }) });
    base = clone.git('rev-parse', 'HEAD');
  });

  const set = (values: Readonly<Record<string, unknown>>, message?: string): string =>
    clone.commit({ [path]: mainPage(values) }, message);
  const find = async (key: string, value: unknown, bot = '312'): Promise<KeyWriter | undefined> => {
    const repository = await openUntilEnd(clone.folder);
    const history = await readPageHistory(repository, 'main', [base], new Map([[path, path]]));
    return await findKeyWriter(repository, history, { path, bot, key, value });
  };

  it('is in a post without a time of its own, or with one of a clock that was ahead, when that was committed', async () => {
    for (const [website, edited] of [
      ['https://a.example', undefined],
      ['https://b.example', Date.now() + maxLeadMs + 60_000],
    ] as const) {
      set({ website, ...(edited && { edited }) }, post);
      const seconds = Number(clone.git('log', '-1', '--format=%ct'));
      deepStrictEqual(await find('website', website), { by: 'post', at: seconds * 1000 });
      deepStrictEqual(await find('website', website, '7'), { by: 'person' }, 'the post was of another bot');
    }
  });

  it('is in a commit of a service with the values of a revert when that was committed, not when they were posted', async () => {
    set({ website: 'https://a.example', edited: 5_000 }, post);
    set({ website: 'https://b.example', edited: 6_000 }, post);
    set({ website: 'https://a.example', edited: 5_000 }, 'Rewrite\n\nBot: 312');
    const seconds = Number(clone.git('log', '-1', '--format=%ct'));
    deepStrictEqual(await find('website', 'https://a.example'), { by: 'post', at: seconds * 1000 });
  });
});
