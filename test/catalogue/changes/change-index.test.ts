import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { appendFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBotChanges } from '../../../src/catalogue/changes/bot-changes.ts';
import { readLastReview, readTrustChanges, type TrustChange } from '../../../src/site/changes/trust.tsx';
import type { Locale } from '../../../src/bot/locale.ts';
import { ChangeIndex } from '../../../src/catalogue/changes/change-index.ts';
import { followBranch } from '../../support/branch.ts';
import { openerOf } from '../../support/opened.ts';
import { repositoryIn, type TestRepository, testRepository } from '../../support/repository.ts';
import { botId, commandsPath, mainPage, pagePath, translation } from '../../support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const id = botId('7');
const invite = 'https://discord.com/oauth2/authorize?scope=bot&client_id=';

describe('the index of what changed in bots', () => {
  let repository: TestRepository;
  let folder: string;
  let second: number;
  beforeEach(() => {
    repository = testRepository({ [pagePath('7')]: mainPage(), [pagePath('8')]: mainPage() });
    second = Math.floor(Date.now() / 1000);
    folder = join(tempFolder(), 'changes');
  });

  const open = (): ChangeIndex => new ChangeIndex({ folder, repositoryOpener: openerOf(repository.folder) });
  const look = async (index: ChangeIndex): Promise<void> => await followBranch(repository.folder, index)();
  /** The last commits are one second apart. */
  const commitLater = (...all: Readonly<Record<string, string | null>>[]): string[] =>
    repository.commitAll(all.map((files) => ({ files, at: ++second })));
  const commit = (keys: object): string => commitLater({ [pagePath('7')]: mainPage({ ...keys }) })[0] ?? '';
  const update = async (index = open()): Promise<ChangeIndex> => {
    await look(index);
    return index;
  };
  const list = async (index: ChangeIndex): Promise<string[]> =>
    (await index.list(id)).map((change) => change.id);

  it('has each commit that changed the bot, newest first, with the blobs before and after it', async () => {
    const first = repository.git('rev-parse', 'HEAD');
    const [named = '', , translated, removed] = commitLater(
      { [pagePath('7')]: mainPage({ name: 'Marge' }) },
      { [pagePath('8')]: mainPage({ name: 'Other' }), 'README.md': 'x' },
      { [pagePath('7', 'de')]: translation('Marge', 'Ja.') },
      { [pagePath('7', 'de')]: null },
    );
    const index = open();
    deepStrictEqual([index.isComplete, await list(index)], [false, []]);
    await look(index);
    deepStrictEqual(await list(index), [removed, translated, named, first]);
    const blob = repository.git('rev-parse', `HEAD:${pagePath('7')}`);
    const [gone, added, edited] = await index.list(id);
    const german = added?.pages[0]?.after;
    deepStrictEqual(gone?.pages, [{ locale: 'de', before: german, after: undefined }]);
    strictEqual(edited?.pages[0]?.after, blob);
    strictEqual(edited?.time, Number(repository.git('show', '-s', '--format=%ct', named)) * 1000);
    const page = await readBotChanges(index, id);
    deepStrictEqual(
      page.changes.map(({ pages, isNewBot }) => [pages[0]?.state, pages[0]?.locale, isNewBot]),
      [
        ['removed', 'de', false],
        ['added', 'de', false],
        ['edited', 'en', false],
        ['added', 'en', true],
      ],
    );
    deepStrictEqual(page.changes[2]?.pages[0]?.fields, [{ name: 'name', before: 'Homer', after: 'Marge' }]);
  });

  it('names the author of a commit in the encoding that the commit names', async () => {
    repository.write(pagePath('7'), mainPage({ name: 'Marge' }));
    // Git does not convert the bytes: they are UTF-8, although the commit says otherwise.
    const settings = ['i18n.commitEncoding=ISO-8859-1', 'user.name=Jürgen', 'user.email=j@example.org'];
    repository.git(...settings.flatMap((setting) => ['-c', setting]), 'commit', '-qam', 'Edit');
    const { changes } = await readBotChanges(await update(), id);
    const names = changes.flatMap(({ by }) => (by.kind === 'person' ? by.name : []));
    deepStrictEqual(names.toSorted(), ['Ada', 'JÃ¼rgen']);
  });

  it('grows by the commits that pass, also after a restart, and says which bots have others', async () => {
    const index = await update();
    const other = botId('8');
    const stamps = [index.stamp(id), index.stamp(other)];
    const second = commit({ name: 'Two' });
    await look(index);
    deepStrictEqual([index.stamp(id) === stamps[0], index.stamp(other) === stamps[1]], [false, true]);
    const third = commit({ name: 'Three' });
    const restarted = await update();
    deepStrictEqual((await list(restarted)).slice(0, 2), [third, second]);
    strictEqual((await list(restarted)).length, 3);
  });

  it('is made again where it was deleted, torn or appended to, without what a kill left, and where the history was rewritten @slow', async () => {
    commit({ name: 'Two' });
    const index = await update();
    const expected = await list(index);
    rmSync(folder, { recursive: true });
    await look(index);
    deepStrictEqual(await list(index), expected);
    const file = join(folder, readdirSync(folder)[0] ?? '');
    for (const damage of [
      (): void => truncateSync(file, 50),
      (): void => appendFileSync(file, '7 torn'),
      (): void => rmSync(file),
      (): void => writeFileSync(join(folder, '.tip.1.1.tmp'), ''),
    ]) {
      const names = readdirSync(folder);
      damage();
      deepStrictEqual([await list(await update()), readdirSync(folder)], [expected, names]);
    }
    repository.git('reset', '-q', '--hard', 'HEAD~1');
    const other = commit({ name: 'Other' });
    await look(index);
    deepStrictEqual((await list(index)).slice(0, 1), [other]);
    strictEqual((await list(index)).length, 2);
  });

  it('lists the same changes with the same times in each clone, however the commits came there', async () => {
    const name = (text: string): { files: Record<string, string> } => ({
      files: { [pagePath('7')]: mainPage({ name: text }) },
    });
    const german = { [pagePath('7', 'de')]: translation('Side', 'Ja.') };
    const [year, ahead] = [1_577_836_800, 8_640_000_000_001];
    const begun = Number(repository.git('show', '-s', '--format=%ct'));
    const index = await update();
    repository.git('switch', '-q', '-c', 'side');
    repository.commitAll([
      { files: german, at: year },
      { ...name('Lost'), at: year + 2 },
    ]);
    await look(index);
    const lost = repository.git('rev-parse', 'side');
    repository.git('switch', '-q', 'main');
    repository.commitAll([
      { ...name('Stays'), at: year + 1 },
      { ...name('Ahead'), at: ahead },
    ]);
    // `main` is the first parent, and its tree stays without the lost change.
    repository.git('merge', '-q', '-s', 'ours', '-m', 'Merge', 'side');
    repository.git('checkout', '-q', 'side', '--', pagePath('7', 'de'));
    repository.git('commit', '-q', '--amend', '-m', 'Merge');
    const read = async (grown: ChangeIndex, after?: string): Promise<unknown[]> =>
      (await readBotChanges(grown, id, after)).changes.map(({ commit, time }) => [commit, time]);
    await look(index);
    const expected = await read(index);
    deepStrictEqual(
      expected.map((entry) => (entry as [string, number])[1]),
      [Date.UTC(9999, 11, 31, 23, 59, 59), ...[begun, year + 2, year + 1, year].map((time) => time * 1000)],
    );
    rmSync(folder, { recursive: true });
    const again = await update();
    deepStrictEqual(await read(again), expected);
    deepStrictEqual(await read(again, lost), expected.slice(3));
  });

  it('leaves out what the first commits of a shallow clone have', async () => {
    const second = commit({ name: 'Two' });
    const folderOfClone = tempFolder();
    repository.git('clone', '-q', '--depth=2', `file://${repository.folder}`, folderOfClone);
    repository = repositoryIn(folderOfClone);
    const third = commit({ name: 'Three' });
    deepStrictEqual(await list(await update()), [third, second]);
  });

  it('has what matters for trust, since when, as far as it is still so', async () => {
    const link = (client: string, permissions: number): string =>
      `${invite}${client}&permissions=${permissions}`;
    const path = pagePath('7');
    repository.commitAll(
      [
        { [pagePath('9')]: mainPage({ name: 'New', nsfw: true }) },
        { [path]: mainPage({ invite: link('7', 2048) }) },
        { [path]: mainPage({ invite: link('7', 2056 + 4) }) },
        { [path]: mainPage({ invite: link('7', 2056), authors: ['190519304972664832', '5'] }) },
        { [path]: '---\n{' },
        { [path]: mainPage({ invite: link('8', 2056), authors: ['5'], nsfw: true }) },
      ].map((files) => ({ files })),
    );
    const index = await update();
    const trust = (await readTrustChanges(index, id)).map(({ kind, values }: TrustChange) => [
      kind,
      ...values,
    ]);
    deepStrictEqual(trust, [
      ['bot', 'discord.com client 8'],
      ['nsfw', ''],
      ['author', '5'],
      ['permission', 'administrator'],
      ['permission', 'sendMessages'],
    ]);
    deepStrictEqual(await readTrustChanges(index, botId('9')), [], 'a new bot has changed nothing');
  });

  it('compares what matters for trust along first parents, and takes a bot that is back for no change', async () => {
    const path = pagePath('7');
    const edit = (client: string, keys: object = {}): string =>
      mainPage({ invite: `${invite}${client}`, ...keys });
    repository = testRepository({ [path]: edit('7') });
    repository.git('switch', '-q', '-c', 'side');
    const nine = pagePath('9');
    repository.commitAll(
      [
        { [path]: edit('8') },
        { [path]: edit('7', { nsfw: true }), [nine]: mainPage({ name: 'New' }) },
        { [nine]: edit('9', { name: 'New' }) },
      ].map((files) => ({ files })),
    );
    repository.git('switch', '-q', 'main');
    repository.commit({ [pagePath('8')]: mainPage({ name: 'Other' }) });
    repository.git('merge', '-q', '--no-ff', '-m', 'Merge', 'side');
    const merge = repository.git('rev-parse', 'HEAD');
    const index = await update();
    const kinds = async (): Promise<string[]> => (await readTrustChanges(index, id)).map(({ kind }) => kind);
    strictEqual((await index.listSteps(id))[0]?.id, merge);
    ok(!(await list(index)).includes(merge), 'it is no change of its own');
    deepStrictEqual(await kinds(), ['nsfw']);
    deepStrictEqual(await readTrustChanges(index, botId('9')), [], 'a new bot of two commits');
    for (const client of ['5', '7']) repository.commit({ [path]: edit(client, { nsfw: true }) });
    await look(index);
    deepStrictEqual(await kinds(), ['nsfw']);
  });

  it('has the last review of a page, and since when the page is another one', async () => {
    for (const setting of ['name Ada', 'email ada@example.org'])
      repository.git('config', ...`user.${setting}`.split(' '));
    const review = 'Update\n\nBot: 7\nProposed-by: 1\nReviewed-by: 42\n';
    const [main, german, french] = [pagePath('7'), pagePath('7', 'de'), pagePath('7', 'fr')];
    const index = open();
    const reviews = async (): Promise<unknown[]> => {
      await look(index);
      const all = ['en', 'de', 'fr'].map(async (locale) => await readLastReview(index, id, locale as Locale));
      return (await Promise.all(all)).map(
        (found) => found && [found.time / 1000, (found.changed ?? 0) / 1000],
      );
    };
    const begun = (second -= 100);
    const commitAs = (files: Readonly<Record<string, string>>, message?: string): void =>
      void repository.commitAll([{ files, at: ++second, message }]);
    commitAs({ [german]: translation('Homer', 'Ja.') }, review);
    deepStrictEqual(await reviews(), [undefined, [begun + 1, 0], undefined], 'a review of one translation');
    commitAs({ [main]: mainPage({ name: 'Marge' }), [french]: translation('Marge', 'Oui.') }, review);
    deepStrictEqual(
      await reviews(),
      Array.from({ length: 3 }, () => [begun + 2, 0]),
      'of the main page',
    );
    commitAs({ [french]: translation('Marge', 'Non.') });
    commitAs({ [commandsPath('7')]: '{"commands": []}' });
    deepStrictEqual(await reviews(), [
      ...Array.from({ length: 2 }, () => [begun + 2, 0]),
      [begun + 2, begun + 3],
    ]);
    commitAs({ [main]: mainPage({ name: 'Bart' }) });
    commitAs({ [main]: mainPage({ name: 'Lisa' }) });
    deepStrictEqual(
      await reviews(),
      Array.from({ length: 3 }, () => [begun + 2, begun + 6]),
      'the last change',
    );
  });

  it('reads 50 commits a page, and all of many for what matters for trust', async () => {
    const pages = [0, 8, ...Array.from({ length: 60 }, () => 8)].map((permissions, i) =>
      mainPage({ invite: `${invite}7&permissions=${permissions}`, name: `Name ${Math.max(i, 1)}` }),
    );
    repository.commitAll(pages.map((page) => ({ files: { [pagePath('7')]: page } })));
    const index = await update();
    const first = await readBotChanges(index, id);
    const second = await readBotChanges(index, id, first.next);
    deepStrictEqual([first.changes.length, second.changes.length, second.next], [50, 13, undefined]);
    const [change] = await readTrustChanges(index, id);
    deepStrictEqual([change?.kind, change?.values], ['permission', ['administrator']]);
  });
});
