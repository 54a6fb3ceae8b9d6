import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository } from '../../src/git/repository.ts';
import { bumpEdited, type EditedBump, planBumpEdited } from '../../src/sync/bump-edited.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { botId, mainPage, pagePath, translation } from '../support/sample.ts';

const id = botId('312');
const path = pagePath(id);
const homer = mainPage({ edited: 1_700_000_000_500 });
const french = translation('Homère', 'Répond.');

describe('the edits that set when people have edited a bot', () => {
  let clone: TestRepository;
  let repository: Repository;
  let first: string;
  beforeEach(async () => {
    clone = testRepository({ [path]: homer, [pagePath(id, 'fr')]: french, 'README.md': 'Bots' });
    first = clone.git('rev-parse', 'HEAD');
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
    clone.git('rm', '-q', '-r', 'bots');
    deepStrictEqual(await plan(twice, commitAt(1_800_000_009, {})), []);
  });

  it('count a merge as one commit, on the branch that it went to', async () => {
    clone.git('switch', '-q', '-c', 'pull');
    commitAt(1_800_000_001, { [path]: homer.replace('"fun"', '"games"') });
    clone.git('switch', '-q', 'main');
    clone.git('merge', '-q', '--no-ff', '--no-commit', 'pull');
    const merge = commitAt(1_800_000_005, {});
    deepStrictEqual(
      (await plan(first, merge)).map(({ time }) => time),
      [1_800_000_005_000],
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
    unlinkSync(join(clone.folder, path));
    symlinkSync('../README.md', join(clone.folder, path));
    deepStrictEqual(await plan(mended, commitAt(1_800_000_003, {})), []);
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
  function commitAt(time: number, files: Readonly<Record<string, string>>, message?: string): string {
    clone.commit(files, message);
    const commit = clone
      .git('cat-file', 'commit', 'HEAD')
      .replace(/^((?:author|committer) .*>) .*$/gm, `$1 ${time} +0000`);
    const file = join(tempFolder(), 'commit');
    writeFileSync(file, `${commit}\n`);
    clone.git('reset', '-q', '--soft', clone.git('hash-object', '-t', 'commit', '-w', file));
    return clone.git('rev-parse', 'HEAD');
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
