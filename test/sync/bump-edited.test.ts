import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository } from '../../src/git/repository.ts';
import { bumpEdited, type EditedBump, planBumpEdited } from '../../src/sync/bump-edited.ts';
import { openUntilEnd } from '../support/opened.ts';
import { type QuickCommit, testRepository, type TestRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath, translation } from '../support/sample.ts';

const id = botId('312');
const path = pagePath(id);
const homer = mainPage({ edited: 1_700_000_000_500 });
const french = translation('Homère', 'Répond.');

describe('the edits that set when people have edited a bot', () => {
  let clone: TestRepository;
  let repository: Repository;
  let first: string;
  let tip: string;
  beforeEach(async () => {
    clone = testRepository({ [path]: homer, [pagePath(id, 'fr')]: french, 'README.md': 'Bots' });
    first = tip = clone.git('rev-parse', 'HEAD');
    repository = await openUntilEnd(clone.folder);
  });

  it('are of the main page, to the time of the commit, whichever page of the bot was changed', async () => {
    const own = commitAt(1_800_000_001, { [path]: homer.replace('"fun"', '"games"'), 'README.md': 'All' });
    deepStrictEqual(await plan(first, own), [{ path, id, name: 'Homer', time: 1_800_000_001_000 }]);
    const other = commitAt(1_800_000_002, { [pagePath(id, 'fr')]: translation('Homère', 'Sait tout.') });
    deepStrictEqual(await plan(own, other), [{ path, id, name: 'Homer', time: 1_800_000_002_000 }]);
    deepStrictEqual(
      (await plan(first, other)).map(({ time }) => time),
      [1_800_000_002_000],
    );
    deepStrictEqual(await plan(other, other), []);
  });

  it('are none where the last commit about a bot raised it, and some where only one before did', async () => {
    const changed = commitAt(1_800_000_001, { [path]: homer.replace('"fun"', '"games"') });
    const raised = commitAt(1_800_000_002, {
      [path]: mainPage({ edited: 1_700_000_000_501 }),
      [pagePath(id, 'de')]: french,
    });
    deepStrictEqual(await plan(first, raised), []);
    const lowered = commitAt(1_800_000_003, { [path]: homer });
    deepStrictEqual(
      (await plan(changed, lowered)).map(({ time }) => time),
      [1_800_000_003_000],
    );
  });

  it('are none for what owners posted, a new bot, a removed one, and one that was edited later @slow', async () => {
    const posted = commitAt(
      1_800_000_001,
      { [path]: homer.replace('"fun"', '"games"') },
      `Update\n\nBot: ${id}`,
    );
    deepStrictEqual(await plan(first, posted), []);
    const added = commitAt(1_800_000_002, { [pagePath('7')]: mainPage(), [pagePath('7', 'fr')]: french });
    deepStrictEqual(await plan(first, added), []);
    const later = commitAt(1_800_000_003, { [pagePath('7', 'fr')]: translation('Homère', 'Sait tout.') });
    const future = commitAt(1_800_000_004, { [pagePath('7')]: mainPage({ edited: 1_800_000_003_000 }) });
    strictEqual((await plan(added, later)).length, 1);
    deepStrictEqual(await plan(later, future), []);
    const twice = commitAt(1_800_000_003, { [pagePath('7', 'fr')]: french });
    deepStrictEqual(await plan(future, twice), []);
    deepStrictEqual(await plan(twice, commitAt(1_800_000_009, { bots: null })), []);
  });

  it('count a merge as one commit, on the branch that it went to', async () => {
    const pull = commitAt(1_800_000_001, { [path]: homer.replace('"fun"', '"games"') });
    const merge = clone.git('commit-tree', `${pull}^{tree}`, '-p', first, '-p', pull, '-m', 'Merge');
    const time = Number(clone.git('log', '-1', '--format=%ct', merge)) * 1000;
    deepStrictEqual(
      (await plan(first, merge)).map((each) => each.time),
      [time],
    );
  });

  it('leave out a page that is faulty or a link, and look past it', async () => {
    const faulty = commitAt(1_800_000_001, { [path]: 'no page' });
    deepStrictEqual(await plan(first, faulty), []);
    const mended = commitAt(1_800_000_002, { [path]: homer.replace('"fun"', '"games"') });
    deepStrictEqual(
      (await plan(faulty, mended)).map(({ time }) => time),
      [1_800_000_002_000],
    );
    clone.git('reset', '-q', '--hard', mended);
    unlinkSync(join(clone.folder, path));
    symlinkSync('../README.md', join(clone.folder, path));
    deepStrictEqual(await plan(mended, clone.commit({})), []);
  });

  it('take a bot without edited for one that was edited when it was listed', async () => {
    const before = commitAt(1_800_000_001, { [path]: mainPage() });
    const raised = commitAt(1_800_000_002, { [path]: mainPage({ edited: 1_700_000_000_001 }) });
    deepStrictEqual(await plan(before, raised), []);
    const same = commitAt(1_800_000_003, { [path]: mainPage({ category: 'games' }) });
    strictEqual((await plan(raised, same)).length, 1);
  });

  async function plan(from: string, to: string): Promise<EditedBump[]> {
    return await planBumpEdited(repository, from, to);
  }

  /** A commit of a person at a time, in seconds since the epoch; with a trailer, one of a service. */
  function commitAt(time: number, files: QuickCommit['files'], message?: string): string {
    tip = clone.commitOn(tip, { files, at: time, message });
    return tip;
  }
});

describe('an edit that sets when people have edited a bot', () => {
  const bump = { path, id, name: 'Homer', time: 1_700_000_000_500 };

  it('raises it, and changes nothing else', () => {
    strictEqual(bumpEdited(mainPage(), bump), homer);
    strictEqual(bumpEdited(mainPage({ edited: 1_700_000_000_499 }), bump), homer);
  });

  it('leaves a page as it is that has that time or a later one, or is faulty', () => {
    for (const text of [
      homer,
      mainPage({ edited: 1_700_000_000_501 }),
      mainPage({ created: 1_700_000_000_501 }),
      mainPage({ name: '' }),
      french,
      'no page',
    ]) {
      strictEqual(bumpEdited(text, bump), text);
    }
  });
});
