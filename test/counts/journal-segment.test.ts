import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { maxTime } from '../../src/bot/clock.ts';
import {
  formatJournalLine,
  type JournalEntry,
  listSegments,
  replaySegment,
  Segment,
} from '../../src/counts/journal.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('a segment of the journal', () => {
  let folder: string;
  let segment: Segment;

  beforeEach(async () => {
    folder = tempFolder();
    segment = await Segment.create(folder, 7);
  });

  it('is a file that ends in zeros while it is appended to, and in its last line once it is closed', async () => {
    await segment.append([entry(1), entry(2)]);
    ok(statSync(segment.path).size > 100_000);
    ok(readFileSync(segment.path, 'latin1').startsWith(`${linesOf(1, 2)}\0`));
    deepStrictEqual(await replay(segment.path), { entries: [entry(1), entry(2)], damaged: [] });
    await segment.append([entry(3)]);
    await segment.close();
    strictEqual(readFileSync(segment.path, 'latin1'), linesOf(1, 2, 3));
    strictEqual(segment.length, linesOf(1, 2, 3).length);
  });

  it('is never created over another one', async () => {
    await rejects(Segment.create(folder, 7), { code: 'EEXIST' });
    await segment.close();
  });

  it('takes a group of any size', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => entry(i));
    await segment.append(many);
    await segment.append([entry(1)]);
    await segment.close();
    deepStrictEqual((await replay(segment.path)).entries, [...many, entry(1)]);
  });

  it('names the lines that are damaged, and has the entries of the others', async () => {
    await segment.append([entry(1), entry(2), entry(3)]);
    await segment.close();
    writeFileSync(segment.path, linesOf(1, 2, 3).replace('"count":2', '"count":9'));
    const last = { ...entry(4), countedAt: maxTime };
    for (const line of [
      'nonsense\n',
      ` ${linesOf(4)}`,
      formatJournalLine({ ...last, countedAt: maxTime + 1 }),
      formatJournalLine(last),
    ])
      appendFileSync(segment.path, line);
    deepStrictEqual(await replay(segment.path), {
      entries: [entry(1), entry(3), last],
      damaged: [2, 4, 5, 6],
    });
  });

  it('is listed after those of lower numbers, and other files are not', async () => {
    const others = await Promise.all([10, 2].map(async (number) => await Segment.create(folder, number)));
    for (const name of ['000000000001.ndjson.damaged', 'a000000000001.ndjson'])
      writeFileSync(join(folder, name), '');
    const paths = await listSegments(folder);
    deepStrictEqual(paths, [others[1]?.path, segment.path, others[0]?.path]);
    for (const other of [segment, ...others]) await other.close();
    deepStrictEqual(await listSegments(join(folder, 'missing')), []);
  });
});

function entry(i: number): JournalEntry {
  return { id: botId(`19051930497266${i}`), count: i, countedAt: 1_700_000_000_000 + i };
}

function linesOf(...numbers: readonly number[]): string {
  return numbers.map((i) => formatJournalLine(entry(i))).join('');
}

async function replay(path: string): Promise<{ entries: JournalEntry[]; damaged: readonly number[] }> {
  const entries: JournalEntry[] = [];
  const damaged = await replaySegment(path, (found) => void entries.push(found));
  return { entries, damaged };
}
