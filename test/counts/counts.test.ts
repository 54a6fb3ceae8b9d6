import { strictEqual, deepStrictEqual, ok } from 'node:assert/strict';
import { openCounts, setEditedTimes } from '../../src/counts/counts.ts';
import { silentLog } from '../../src/lib/log.ts';
import { ChangeIndex } from '../../src/catalogue/changes/change-index.ts';
import type { StateStore } from '../../src/counts/state-store.ts';
import { branchFeedOf, followBranch } from '../support/branch.ts';
import { openerOf } from '../support/opened.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { newPlace, open, type Place } from '../support/place.ts';

describe('the counts of a service', () => {
  for (const [title, remote, writes] of [
    [
      'write a repeated count with a remote, where another machine may have a different one',
      { syncSeconds: 60 },
      3,
    ],
    ['write a repeated count once without a remote', null, 1],
  ] as const)
    it(title, async () => {
      const repository = testRepository();
      const { state, close } = openCounts({
        config: { var: tempFolder(), stateSeconds: 3600, remote, readOnly: null, demo: null },
        repositoryOpener: openerOf(repository.folder),
        branch: branchFeedOf(repository.folder),
        onEdited: () => {},
        log: silentLog,
      });
      await state.load();
      for (let n = 0; n < 3; n++) await state.setCount(botId('7'), 5);
      strictEqual(state.journal.writes, writes);
      await close();
    });
});

const id = botId('312');
const path = pagePath(id);
const homer = mainPage({ edited: 1_700_000_000_500 });
const changed = homer.replace('"fun"', '"games"');
const french = pagePath(id, 'fr');
const at = 1_750_000_000;

describe('the time at which commits edit a bot', () => {
  let clone: TestRepository;
  let place: Place;
  let state: StateStore;
  let look: () => Promise<void>;
  beforeEach(async () => {
    clone = testRepository({
      [path]: homer,
      [french]: translation('Homère', 'Répond.'),
      'README.md': 'Bots',
    });
    place = newPlace();
    state = await open(place);
    const index = new ChangeIndex({ folder: tempFolder(), repositoryOpener: openerOf(clone.folder) });
    look = followBranch(clone.folder, {
      failed: String,
      ended: '',
      handle: async (advance) => await setEditedTimes(state, advance, index),
    });
    await look();
  });

  const raised = mainPage({ edited: 1_700_000_000_501 });
  for (const [title, commit, ...files] of [
    ['is that of the commit', 0, { [path]: changed }],
    ['is that of a translation', 0, { [french]: translation('H', 'Sait.') }],
    ['is that of the last commit', 1, { [path]: changed }, { [french]: null }],
    ['is that of a commit which lowers it in the file', 0, { [path]: mainPage() }],
    ['is that of the commit which fixes a faulty page', 1, { [path]: 'no page' }, { [path]: changed }],
    ['is not set by one which raises it in the file', -1, { [path]: raised }],
    ['is not set by one that changes no page', -1, { 'README.md': 'All' }],
    ['is not set where the bot goes and is back', -1, { [path]: null, [french]: null }, { [path]: changed }],
  ] as const)
    it(title, async () => {
      clone.commitAll(files.map((of, i) => ({ files: of, at: at + i })));
      await look();
      const expected = commit === -1 ? undefined : (at + commit) * 1000;
      strictEqual(state.edited(id), expected);
      strictEqual((await open(place)).edited(id), expected, 'it is durable');
    });

  it('is that of the merge which brought it, not of a commit before it', async () => {
    clone.git('switch', '-q', '-c', 'pull');
    clone.commitAll([{ files: { [path]: changed }, at }]);
    clone.git('switch', '-q', 'main');
    clone.git('merge', '-q', '--no-ff', '-m', 'Merge', 'pull');
    await look();
    strictEqual(state.edited(id), Number(clone.git('log', '-1', '--format=%ct')) * 1000);
  });

  it('is not set by a service that names the bot, as where it merges its own side', async () => {
    clone.commit({ [path]: changed }, `Merge\n\nBot: ${id}`);
    await look();
    strictEqual(state.edited(id), undefined);
  });

  it('is that of the hand commit that a service merged before it was looked at, and of no post beside it', async () => {
    const base = clone.git('rev-parse', 'HEAD');
    const theirs = clone.commitOn(base, { files: { 'README.md': 'All' } });
    const other = botId('7');
    clone.commitAll([{ files: { [path]: changed }, at }]);
    clone.commitAll([{ files: { [pagePath(other)]: mainPage({ name: 'Lenny' }) }, at: at + 1 }]);
    clone.commitAll([{ files: { [path]: raised }, at: at + 2, message: `Update Homer\n\nBot: ${id}` }]);
    const parents = ['-p', theirs, '-p', 'HEAD'];
    const message = `Merge 2 bots\n\nBot: ${id}\nBot: ${other}`;
    const merge = clone.git('commit-tree', 'HEAD^{tree}', ...parents, '-m', message);
    clone.git('reset', '-q', '--hard', merge);
    await look();
    deepStrictEqual([state.edited(id), state.edited(other)], [at * 1000, undefined]);
    strictEqual((await open(place)).edited(id), at * 1000, 'it is durable');
  });

  it('is now for a commit of a clock that is hours ahead, and not set by one that is days ahead', async () => {
    const now = Math.floor(Date.now() / 1000);
    clone.commitAll([{ files: { [path]: changed }, at: now + 2 * 86_400 }]);
    await look();
    strictEqual(state.edited(id), undefined);
    clone.commitAll([{ files: { [path]: homer }, at: now + 7200 }]);
    await look();
    const edited = state.edited(id) ?? 0;
    ok(edited >= now * 1000 && edited <= Date.now());
  });

  it('of another machine is taken if it is later, but not used while it is more than a day ahead', async () => {
    const told: string[] = [];
    const machine = await open(newPlace(), { onEdited: (bot) => told.push(bot) });
    for (const time of [5, 4, 5, 6]) machine.setEdited(id, time);
    strictEqual(machine.edited(id), 6);
    machine.setEdited(id, Date.now() + 2 * 86_400_000);
    deepStrictEqual([machine.edited(id), told.length], [undefined, 3]);
  });
});
