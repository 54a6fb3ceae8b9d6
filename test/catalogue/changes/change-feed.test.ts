import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import type { CatalogueChanges } from '../../../schemas/types.ts';
import { ChangeFeed, isChangeCursor } from '../../../src/catalogue/changes/change-feed.ts';
import { ChangeIndex } from '../../../src/catalogue/changes/change-index.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { followBranch } from '../../support/branch.ts';
import { eventually } from '../../support/eventually.ts';
import { type LiveCatalogue, openCatalogue } from '../../support/live-catalogue.ts';
import { openerOf } from '../../support/opened.ts';
import { type TestRepository, testRepository } from '../../support/repository.ts';
import { commandsPath, mainPage, pagePath, translation } from '../../support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('what changed in the catalogue', () => {
  let repository: TestRepository;
  let start: string;
  beforeEach(() => {
    repository = testRepository({ [pagePath('7')]: mainPage(), [pagePath('8')]: mainPage() });
    start = repository.git('rev-parse', 'HEAD');
  });

  /** Returns a feed that released the checked-out commit, its catalogue, and a function that checks the branch. */
  const openAll = async (): Promise<LiveCatalogue & { feed: ChangeFeed; look: () => Promise<void> }> => {
    const { folder: root } = repository;
    const repositoryOpener = openerOf(root);
    const live = await openCatalogue({}, { root });
    const index = new ChangeIndex({ folder: tempFolder(), repositoryOpener });
    const { signal } = new AbortController();
    const cache = new CurrentCache();
    const feed = new ChangeFeed({ root, repositoryOpener, catalogue: live.catalogue, index, cache, signal });
    const look = followBranch(root, feed);
    await feed.begin();
    await look();
    return { ...live, feed, look };
  };
  const open = async (): Promise<ChangeFeed> => (await openAll()).feed;
  /** Reads all changes. Returns a word for each change and the sizes of the pages. */
  const readAll = async (
    since: string,
    limit = 100,
    opened?: ChangeFeed,
  ): Promise<[words: string[], sizes: number[]]> => {
    const feed = opened ?? (await open());
    const words: string[] = [];
    const sizes: number[] = [];
    for (let at = since; at !== feed.tip;) {
      const { changes, next } = await feed.read(at, limit, 'reader');
      for (const { json, what } of changes) {
        const { bot, keys, locales, ...rest } = JSON.parse(json) as CatalogueChanges['changes'][number];
        strictEqual(rest.what, what);
        words.push([what, bot, ...locales, ...keys].join(' '));
      }
      sizes.push(changes.length);
      at = next;
    }
    return [words, sizes];
  };

  it('has each bot that a commit added, changed or removed, with the keys and the languages', async () => {
    repository.commitAll(
      [
        { [pagePath('7')]: mainPage({ name: 'Marge', nsfw: true }), 'README.md': 'x' },
        { [pagePath('7', 'de')]: translation('Marge', 'Ja.'), [pagePath('9')]: mainPage() },
        { [pagePath('7')]: mainPage({ name: 'Marge', nsfw: true }, 'Other.') },
        { [pagePath('7', 'de')]: null, [pagePath('8')]: null },
        { 'README.md': 'y' },
        { [pagePath('8')]: mainPage({}, 'Back.'), [commandsPath('8')]: '{"commands": []}' },
        { [commandsPath('8')]: '{"commands": [{"name": "a"}]}', [commandsPath('10')]: '{"commands": []}' },
        { [pagePath('8')]: null, [commandsPath('8')]: null },
      ].map((files) => ({ files })),
    );
    deepStrictEqual((await readAll(start))[0], [
      'changed 7 en name nsfw',
      'changed 7 de',
      'added 9 en',
      'changed 7 en page',
      'changed 7 de',
      'removed 8 en',
      'added 8 en',
      'changed 8 commands',
      'removed 8 en',
    ]);
  });

  it('ends a page inside of a commit, and the next one begins there @slow', async () => {
    const ids = ['1', '10', '1001', '9', '90', '2001', '11', '100'];
    repository.commit(Object.fromEntries(ids.map((id) => [pagePath(id), mainPage()])));
    repository.commit({ [pagePath('7')]: mainPage({ name: 'Marge' }) });
    const feed = await open();
    const [all] = await readAll(start, 100, feed);
    strictEqual(all.length, 9);
    for (const limit of [1, 2, 3, 8, 9]) {
      const [words, sizes] = await readAll(start, limit, feed);
      deepStrictEqual(words, all);
      strictEqual(sizes[0], limit);
      ok(sizes.every((size) => size <= limit));
    }
  });

  /** Merges `main` and a branch beside it. `ours` is the place of `main` among the parents. */
  const mergeBeside = (ours: 'first' | 'second'): string => {
    const commitTwo = (...files: readonly Readonly<Record<string, string>>[]): string =>
      repository.commitAll(files.map((of) => ({ files: of }))).at(-1) ?? '';
    repository.git('switch', '-q', '-c', 'beside');
    const beside = commitTwo(
      { [pagePath('20')]: mainPage() },
      { [pagePath('8')]: mainPage({ name: 'Beside' }) },
    );
    repository.git('switch', '-q', 'main');
    const main = commitTwo({ [pagePath('7')]: mainPage({ name: 'Main' }) }, { [pagePath('30')]: mainPage() });
    repository.git('switch', '-q', ours === 'first' ? 'main' : 'beside');
    repository.git('merge', '-q', '--no-ff', '-m', 'Merge', ours === 'first' ? 'beside' : main);
    if (ours === 'second') repository.git('switch', '-q', '-C', 'main', 'beside');
    repository.commit({ [pagePath('40')]: mainPage() });
    return ours === 'first' ? beside : main;
  };

  for (const ours of ['first', 'second'] as const) {
    it(`goes on from a commit that was merged as the other parent, the own line being the ${ours}`, async () => {
      const other = mergeBeside(ours);
      const feed = await open();
      const [words] = await readAll(other, 100, feed);
      deepStrictEqual(
        words,
        ours === 'first'
          ? ['changed 7 en name', 'added 30 en', 'added 40 en']
          : ['changed 8 en name', 'added 20 en', 'added 40 en'],
      );
      const parent = repository.git('rev-parse', `${other}~1`);
      const [earlier] = await readAll(parent, 100, feed);
      deepStrictEqual(earlier.toSorted().length, 4);
      const [whole] = await readAll(start, 100, feed);
      strictEqual(whole.length, 5);
    });
  }

  it('goes on inside of a step that a merge has made part of another one', async () => {
    repository.commit({ [pagePath('50')]: mainPage(), [pagePath('51')]: mainPage() });
    const tip = repository.git('rev-parse', 'HEAD');
    const { changes, next } = await (await open()).read(start, 1, 'reader');
    strictEqual(changes[0]?.cursor, next);
    repository.git('switch', '-q', '-c', 'theirs', start);
    repository.commit({ [pagePath('60')]: mainPage() });
    repository.git('merge', '-q', '--no-ff', '-m', 'Merge', tip);
    repository.git('switch', '-q', '-C', 'main', 'theirs');
    deepStrictEqual((await readAll(next))[0], ['added 51 en', 'added 60 en']);
  });

  it('refuses a commit that the branch does not have, in any place of a cursor', async () => {
    const gone = repository.commit({ [pagePath('7')]: mainPage({ name: 'Gone' }) });
    repository.git('reset', '-q', '--hard', start);
    const feed = await open();
    const blob = repository.git('rev-parse', `HEAD:${pagePath('7')}`);
    const zeros = '0'.repeat(40);
    for (const since of [
      gone,
      blob,
      zeros,
      `${start}.${gone}.7`,
      `${gone}.${start}.7`,
      `${zeros}.${start}.7`,
    ])
      await rejects(feed.read(since, 100, 'reader'), { code: 'unknown-cursor' }, since);
  });

  it('distinguishes texts that can be cursors', () => {
    const id = 'a'.repeat(40);
    for (const text of [id, `${id}${'b'.repeat(24)}`, `${id}.${id}.18446744073709551615`])
      ok(isChangeCursor(text), text);
    for (const text of ['', 'HEAD', id.slice(1), `${id}b`, `${id}.1`, `${id}.${id}`, `--${id}`, `${id}\n`])
      ok(!isChangeCursor(text), text);
  });

  it('skips commits that changed no bot, many at a time @long', async () => {
    repository.commitAll([
      ...Array.from({ length: 1200 }, (_, i) => ({ files: { 'README.md': String(i) } })),
      { files: { [pagePath('7')]: mainPage({ name: 'Marge' }) } },
    ]);
    deepStrictEqual((await readAll(start))[1], [0, 0, 1]);
  });

  it('releases a commit once its pages are served', async () => {
    const { catalogue, name, feed, look } = await openAll();
    strictEqual(feed.tip, start);
    // Stops the watcher.
    await catalogue.close();
    const head = repository.commit({ [pagePath('7')]: mainPage({ name: 'Marge' }) });
    strictEqual(name('7'), 'Homer');
    await look();
    deepStrictEqual([feed.tip, name('7')], [head, 'Marge']);

    // The branch moves first, the files follow.
    const moved = repository.commit({ [pagePath('7')]: mainPage({ name: 'Lisa' }) });
    repository.write(pagePath('7'), mainPage({ name: 'Marge' }));
    const looking = look();
    await eventually(() => strictEqual(name('7'), 'Marge'));
    strictEqual(feed.tip, head);
    repository.git('checkout', '-q', '.');
    await looking;
    deepStrictEqual([feed.tip, name('7')], [moved, 'Lisa']);
  });
});
