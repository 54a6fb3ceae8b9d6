import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { mergeStates } from '../../src/sync/remote.ts';
import type { Repository } from '../../src/git/repository.ts';
import { readTreeId } from '../../src/git/trees.ts';
import { writePrunedHistory } from '../../src/counts/state-ref.ts';
import { writeCommit } from '../../src/git/commit-files.ts';
import { maxObjectBytes } from '../../src/git/objects.ts';
import { writeShard } from '../../src/counts/state.ts';
import type { TokenDigest } from '../../src/bot/token.ts';
import { botId } from '../support/sample.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { openUntilEnd } from '../support/opened.ts';

const start = Date.UTC(2026, 0);

type Counts = Readonly<Record<string, readonly [value: number, at: number]>>;

describe('the merge of two states', () => {
  let repository: TestRepository;
  let opened: Repository;
  let empty: string;
  before(async () => {
    repository = testRepository();
    opened = await openUntilEnd(repository.folder);
    empty = repository.git('hash-object', '-w', '-t', 'tree', '/dev/null');
  });

  it('goes forward where one has the other in its history', async () => {
    const first = await commit({ 1: [5, 1] });
    const second = await commit({ 1: [6, 2] }, first);
    for (const [ours, theirs] of [
      [first, second],
      [second, first],
      [null, second],
      [second, second],
    ] as const)
      strictEqual(await mergeStates(opened, ours, theirs), second);
  });

  it('has of each bot the later count, and both histories, or theirs where ours has nothing later', async () => {
    const base = await commit({ 1: [5, 1], 2: [5, 1], 10_001: [5, 1] });
    const ours = await commit({ 1: [6, 3], 2: [6, 2] }, base);
    const theirs = await commit({ 1: [7, 2], 2: [7, 3], 3: [7, 1] }, base);
    const merged = await mergeStates(opened, ours, theirs);
    deepStrictEqual(await countsOf(merged), { 1: [6, 3], 2: [7, 3], 3: [7, 1], 10_001: [5, 1] });
    strictEqual(repository.git('log', '-1', '--format=%P', merged), `${theirs} ${ours}`);
    const later = await commit({ 1: [7, 4], 2: [7, 4] }, base);
    strictEqual(await mergeStates(opened, ours, later), later);
  });

  it('merges histories that have nothing in common, with ours on top as one commit', async () => {
    const ours = await commit({ 1: [6, 3], 4: [1, 1] });
    const theirs = await commit({ 1: [7, 2], 5: [2, 2] });
    const merged = await mergeStates(opened, ours, theirs);
    deepStrictEqual(await countsOf(merged), { 1: [6, 3], 4: [1, 1], 5: [2, 2] });
    strictEqual(repository.git('log', '-1', '--format=%P', merged), theirs);
  });

  it('has the files of days of both, and of one day the later counts, or the larger without times', async () => {
    const base = await commit({ 1: [5, 1] });
    const write = async (texts: Readonly<Record<string, string>>): Promise<string> => {
      const entries = Object.entries(texts).map(
        ([date, text]) => [`days/2026/11-${date}`, { mode: '100644', content: Buffer.from(text) }] as const,
      );
      return await writeCommit(opened, { parents: [base], files: new Map(entries), message: 'Count\n' });
    };
    const tooLargeForPeople = '-'.repeat(maxObjectBytes);
    const ours = await write({ 21: '1 5\n2 9\n3 9 1\n', 20: '2 8\n' });
    const theirs = await write({ 21: `1 6\n3 8 2\n12 4\n${tooLargeForPeople}`, 22: '1 7\n' });
    const [there, back] = [await mergeStates(opened, ours, theirs), await mergeStates(opened, theirs, ours)];
    strictEqual(await readTreeId(opened, there), await readTreeId(opened, back));
    const lines = ['20', '21', '22'].map((date) => repository.git('show', `${there}:days/2026/11-${date}`));
    deepStrictEqual(lines, ['2 8', '1 6\n2 9\n3 8 2\n12 4', '1 7']);
  });

  it('takes a token that only one side has issued or ended, where no count differs', async () => {
    const base = await commit({ 1: [5, 1] });
    const [older, newer] = await Promise.all(
      [1, 2].map(async (generation) => {
        const digest = `sha256:${String(generation).repeat(64)}` as TokenDigest;
        const state = { count: { value: 5, at: 1 }, token: { digest, at: generation, generation } };
        const content = Buffer.from(writeShard([botId('1')], () => state));
        const files = new Map([['00/01.json', { mode: '100644', content }]]);
        return await writeCommit(opened, { parents: [base], files, message: 'Issue a token\n' });
      }),
    );
    const other = await commit({ 2: [6, 2] }, base);
    for (const [ours = '', theirs = ''] of [
      [newer, older],
      [older, newer],
      [newer, other],
      [other, newer],
    ]) {
      const merged = await mergeStates(opened, ours, theirs);
      match(repository.git('show', `${merged}:00/01.json`), /sha256:2{64}/);
    }
  });

  it('follows a pruned history, with ours on top as one commit, so that what was pruned away stays away', async () => {
    let line: string | undefined;
    for (let n = 1; n <= 5; n++) line = await commit({ 1: [n, n] }, line);
    const known = String(line);
    let ours = known;
    for (let n = 6; n <= 8; n++) ours = await commit({ 2: [n, n] }, ours);
    const pruned = await writePrunedHistory(opened, known, Date.now() / 1000 + 1000);
    const merged = await mergeStates(opened, ours, String(pruned?.commit));
    deepStrictEqual(await countsOf(merged), { 1: [5, 5], 2: [8, 8] });
    strictEqual(repository.git('log', '-1', '--format=%P', merged), pruned?.commit);
    strictEqual(repository.git('rev-list', '--count', merged), '2');
    const again = await commit({ 3: [1, 1] }, merged);
    strictEqual(await mergeStates(opened, again, merged), again);
  });

  it('comes, for any states, to the same in either direction, and loses no bot @slow', async () => {
    const counts: fc.Arbitrary<Counts> = fc.dictionary(
      fc.constantFrom('1', '2', '3', '10001', '20002'),
      fc.tuple(
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 1, max: 4 }).map((n) => n * 40_000_000 + start),
      ),
    );
    await fc.assert(
      fc.asyncProperty(counts, counts, counts, async (was, a, b) => {
        const base = await commit({ 9: [9, 9], ...was });
        const [ours, theirs] = [await commit(a, base), await commit(b, base)];
        const there = await mergeStates(opened, ours, theirs);
        const back = await mergeStates(opened, theirs, ours);
        strictEqual(await readTreeId(opened, there), await readTreeId(opened, back));
        strictEqual(await mergeStates(opened, there, theirs), there);
        const merged = await countsOf(there);
        for (const [id, [, at]] of Object.entries({ ...was, ...a, ...b })) {
          strictEqual((merged[id]?.[1] ?? 0) >= Math.min(at, a[id]?.[1] ?? at), true);
        }
      }),
      { numRuns: 8 },
    );
  });

  /** A state's commit with these counts in place of those of `parent`, even if those are later. */
  async function commit(counts: Counts, parent?: string): Promise<string> {
    const all = { ...(parent === undefined ? {} : await countsOf(parent)), ...counts };
    const shards = new Map<string, string[]>();
    for (const id of Object.keys(all)) {
      const digits = id.slice(-4).padStart(4, '0');
      const path = `${digits.slice(0, 2)}/${digits.slice(2)}.json`;
      shards.set(path, [...(shards.get(path) ?? []), id]);
    }
    const files = [...shards].map(([path, ids]) => {
      const sorted = ids.map(botId).toSorted((a, b) => Number(a) - Number(b));
      const text = writeShard(sorted, (id) => {
        const [value = 0, at = 0] = all[id] ?? [];
        return { count: { value, at } };
      });
      return [path, { mode: '100644', content: Buffer.from(text) }] as const;
    });
    commits++;
    return await writeCommit(opened, {
      parents: parent === undefined ? [] : [parent],
      tree: empty,
      files: new Map(files),
      message: `Count, the ${commits}. time\n`,
    });
  }

  let commits = 0;

  async function countsOf(commit: string): Promise<Record<string, [number, number]>> {
    const text = repository.git('ls-tree', '-r', '--format=%(objectname)', commit);
    const blobs = await opened.objects.read(text.split('\n').filter((id) => id !== ''));
    const lines = blobs.flatMap((blob) => [
      ...(blob?.content.toString() ?? '').matchAll(/"(\d+)":\{"count":(\d+),"countedAt":(\d+)/g),
    ]);
    return Object.fromEntries(lines.map(([, id, value, at]) => [id, [Number(value), Number(at)]]));
  }
});
