import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import { CountHistory } from '../../src/counts/count-history.ts';
import { createRefusal, maxBots } from '../../src/counts/state-files.ts';
import { CommittedState, createStateRef } from '../../src/counts/state-ref.ts';
import { StateStore } from '../../src/counts/state-store.ts';
import { stateRef } from '../../src/git/refs.ts';
import { silentLog } from '../../src/lib/log.ts';
import { mergeState, mergeStates } from '../../src/sync/remote.ts';
import { eventually } from '../support/eventually.ts';
import { MemoryRef } from '../support/place.ts';
import { openerOf, openUntilEnd } from '../support/opened.ts';
import { recordedLog } from '../support/recorded-log.ts';
import { repositoryIn, testRepository, type TestRepository } from '../support/repository.ts';
import { gitSync } from '../support/run-sync.ts';
import { botId, mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestToken } from '../support/token.ts';

const good = { '33/12.json': '{\n"3312":{"count":5,"countedAt":1}\n}\n' };
const mebibyte = 'x\n'.repeat(512 * 1024);
const large = { '33/12.json': `${mebibyte}x` };
/** One blob, at more paths than may be read. */
const many = Object.fromEntries(
  Array.from({ length: 700 }, (_, i) => [`${10 + Math.floor(i / 90)}/${10 + (i % 90)}.json`, mebibyte]),
);
/** 1,000 names of 60 characters. */
const folder = Object.fromEntries(
  Array.from({ length: 1000 }, (_, i) => [`33/${String(i).padEnd(60, 'x')}`, 'x']),
);

describe('a state that somebody has spoilt', () => {
  it('is read at the paths of shards only, and logged with ten of its bad lines and the number of the others', async () => {
    const repository = testRepository();
    const bad = 'bad\n'.repeat(20);
    const others = ['README', '33/12.json.orig', '033/12.json', 'a/33/12.json'];
    const files = { '00/01.json': bad, '00/02.json': bad, ...good };
    setState(repository, { ...files, ...Object.fromEntries(others.map((path) => [path, bad])) });
    const log = recordedLog();
    const committed = new CommittedState(createStateRef(openerOf(repository.folder), log), log);
    await committed.follow();
    strictEqual(committed.state.get(botId('3312')).count?.value, 5);
    match(log.lines[0] ?? '', /^warn: 00\/01\.json:1 of the state ref is skipped: /);
    deepStrictEqual(
      [log.lines.length, log.lines.at(-1)],
      [11, 'warn: 30 more lines of the state ref are skipped'],
    );
  });

  for (const [title, files] of [
    ['a shard of more than a mebibyte', large],
    ['shards that are small, and too large together', many],
    ['a folder with names of more than 64 KiB', folder],
  ] as const)
    it(`is not read with ${title}: the last one stays until an older one is restored`, async () => {
      const repository = testRepository();
      const before = setState(repository, good);
      const log = recordedLog();
      const store = new StateStore({
        folder: tempFolder(),
        ref: createStateRef(openerOf(repository.folder), silentLog),
        stateSeconds: 3600,
        log,
      });
      await store.load();
      const after = setState(repository, files, before);
      await rejects(async () => await store.refresh(), { code: 'state-refused' });
      const [failure] = store.failures();
      match(failure?.message ?? '', new RegExp(`^the commit ${after} of ${stateRef} is not read, because `));
      strictEqual(store.count(botId('3312')), 5);
      strictEqual(log.lines.length, 1);
      repository.git('update-ref', stateRef, before);
      await store.refresh();
      deepStrictEqual(store.failures(), []);
      await store.close();
    });

  it('is not read with more bots than there is memory for @long', async () => {
    const ref = new MemoryRef();
    const committed = new CommittedState(ref, silentLog);
    await ref.commit(null, new Map(Object.entries(good)), 'Count 1 bot');
    await committed.follow();
    async function* makeShards(): AsyncGenerator<readonly [path: string, content: Buffer]> {
      for (let number = 1; number <= maxBots + 10_000; number += 10_000) {
        const lines = Array.from({ length: 10_000 }, (_, i) => `"${number + i}3312":{"edited":1}\n`);
        yield ['33/12.json', Buffer.from(lines.join(''))];
      }
    }
    ref.peek = () => 'other';
    ref.read = async () => ({ commit: 'other', days: [], shards: makeShards() });
    await rejects(committed.refresh(), { code: 'state-refused', message: /has more than \d+ bots/ });
    deepStrictEqual([committed.state.bots.size, committed.state.get(botId('3312')).count?.value], [1, 5]);
  });

  it('of another machine is not merged', async () => {
    const repository = testRepository();
    const opened = await openUntilEnd(repository.folder);
    const ours = setState(repository, good);
    for (const parent of [ours, undefined]) {
      const theirs = setState(repository, large, parent);
      for (const known of [ours, null])
        await rejects(mergeStates(opened, known, theirs), { code: 'state-refused' });
    }
  });

  it('of another machine is taken back if it cannot be read after its merge', async () => {
    const repository = testRepository();
    const opened = await openUntilEnd(repository.folder);
    const ours = setState(repository, good);
    const theirs = setState(repository, { ...good, '00/01.json': '' }, ours);
    repository.git('update-ref', stateRef, ours);
    const refuse = async (): Promise<never> => await Promise.reject(createRefusal(theirs, 'it is too large'));
    await rejects(mergeState(opened, theirs, refuse), { code: 'state-refused' });
    strictEqual(repository.git('rev-parse', stateRef), ours);
  });

  it('has the days that can be read, and names the others', async () => {
    const repository = testRepository({ file: 'text' });
    setState(
      repository,
      { 'days/2026/11-18': '7 1\n', 'days/2026/11-20/a': '7 2\n', 'days/2026/11-21': '7 3\n' },
      undefined,
      noFile,
    );
    const history = new CountHistory({
      repositoryOpener: openerOf(repository.folder),
      latest: () => undefined,
      log: silentLog,
      now: () => Date.UTC(2026, 10, 22),
    });
    await history.update();
    strictEqual(await history.isRead('all'), true);
    deepStrictEqual(
      history.counts(botId('7'), 0, 30_000).map(({ count }) => count),
      [1, 1, 1, 3, 3],
    );
    deepStrictEqual(
      history.faults().map((fault) => fault.slice(0, 87)),
      ['19', '20'].map((day) =>
        `days/2026/11-${day} of ${stateRef} is left out of the counts over time, because it is`.slice(0, 87),
      ),
    );
  });

  it('keeps the days that cannot be read, when counts come for them', async () => {
    const repository = testRepository({ file: 'text' });
    const tip = setState(repository, { 'days/2026/11-20/a': '7 2\n' }, undefined, noFile);
    const ref = createStateRef(openerOf(repository.folder), silentLog);
    const days = ['19', '20'].map((day) => [`days/2026/11-${day}`, '7 1\n'] as const);
    strictEqual(await ref.commit(tip, new Map(days), 'Count 1 bot'), tip);
  });

  it('gets the days of ours in place of those that cannot be read', async () => {
    const repository = testRepository({ file: 'text' });
    const opened = await openUntilEnd(repository.folder);
    const ours = setState(repository, { ...good, 'days/2026/11-19': '7 1\n' });
    const theirs = setState(repository, good, undefined, noFile);
    const merged = await mergeStates(opened, ours, theirs);
    strictEqual(repository.git('show', `${merged}:days/2026/11-19`), '7 1');
  });

  it('lets a service read on: posts get a 503, and /readyz says why', async () => {
    const service = await startTestService({ [pagePath('3312')]: mainPage() });
    const repository = repositoryIn(service.root);
    const token = await issueTestToken(service.root, '3312');
    const post = async (count: number): Promise<number> =>
      (await service.post('3312', token, { count })).status;
    strictEqual(await post(5), 200);
    const before = repository.git('rev-parse', stateRef);
    setState(repository, many, before);
    service.expectLog(/the commit \w+ of refs\/botshelf\/state is not read/);
    strictEqual(await post(6), 503);
    const { status, json } = await service.request('/readyz');
    strictEqual(status, 200);
    match(
      json.parts.state.faults.join(),
      /its files have more than \d+ MiB together: set the ref to an older commit/,
    );
    strictEqual((await service.request('/api/v2/bots/3312/counts')).json.at(-1).count, 5);
    repository.git('update-ref', stateRef, before);
    strictEqual(await post(7), 200);
    await eventually(async () =>
      deepStrictEqual((await service.request('/readyz')).json.parts.state.faults, []),
    );
  });
});

/** An entry with a commit that nobody has, like that of a submodule. */
const noFile = `M 160000 ${'1'.repeat(40)} days/2026/11-19\n`;

/** Commits a state on another one, or on none, and sets the ref to it. */
function setState(
  { folder }: TestRepository,
  files: Readonly<Record<string, string>>,
  parent?: string,
  more = '',
): string {
  const marks = new Map([...new Set(Object.values(files))].map((text, i) => [text, i + 1]));
  const blobs = [...marks].map(([text, mark]) => `blob\nmark :${mark}\ndata ${text.length}\n${text}\n`);
  const lines = Object.entries(files).map(([path, text]) => `M 100644 :${marks.get(text)} ${path}\n`);
  const from = parent === undefined ? '' : `from ${parent}\ndeleteall\n`;
  const head = `reset ${stateRef}\ncommit ${stateRef}\ncommitter Mallory <mallory@example.org> 1790000000 +0000\ndata 8\nSpoil it\n`;
  const input = `${blobs.join('')}${head}${from}${lines.join('')}${more}done\n`;
  gitSync({ args: ['fast-import', '--quiet', '--done', '--force'], cwd: folder, input });
  return gitSync({ args: ['rev-parse', stateRef], cwd: folder });
}
