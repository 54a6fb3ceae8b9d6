import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isUnavailable } from '../../src/bot/errors.ts';
import { Journal, type JournalEntry, formatJournalLine } from '../../src/counts/journal.ts';
import { maxTime } from '../../src/bot/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { type RecordedLog, recordedLog } from '../support/recorded-log.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the journal', () => {
  it('writes each entry as a line of JSON with a checksum, into a file that ends in zeros while it is open', async () => {
    const folder = newFolder();
    const { journal } = journalIn(folder);
    await journal.append(entry(1));
    const path = join(folder, '000000000001.ndjson');
    const { size } = statSync(path);
    ok(size > 100_000);
    await journal.append(entry(2));
    strictEqual(statSync(path).size, size);
    await journal.close();
    const line = '{"id":"190519304972663312","count":1,"countedAt":1700000000001,"crc":3357626576}\n';
    strictEqual(readFileSync(path, 'utf8'), `${line}${formatJournalLine(entry(2))}`);
  });

  it('makes those who come together durable together, and tells of them in order before it answers', async () => {
    const folder = newFolder();
    const { journal, groups } = journalIn(folder, 10_000_000);
    const all = Array.from({ length: 20_000 }, (_, i) => entry(i));
    await Promise.all(all.map(async (one) => await journal.append(one)));
    deepStrictEqual(groups.flat(), all);
    ok(groups.length < 10, `${groups.length} groups`);
    await journal.close();
    deepStrictEqual(await replayed(folder), all);
  });

  it('makes a new segment once one is full, or sealed', async () => {
    const folder = newFolder();
    const { journal } = journalIn(folder, 200);
    for (let i = 0; i < 6; i++) await journal.append(entry(i));
    strictEqual(readdirSync(folder).length, 2);
    const sealed = await journal.seal();
    strictEqual(sealed.length, 2);
    await journal.append(entry(6));
    await journal.remove(sealed.slice(0, 1));
    strictEqual(readdirSync(folder).length, 2);
    await journal.remove(sealed.slice(1));
    strictEqual(readdirSync(folder).length, 1);
    strictEqual(journal.writes, 7);
    await journal.close();
    deepStrictEqual(await replayed(folder), [entry(6)]);
  });

  it('seals what is being written with what is before it', async () => {
    const folder = newFolder();
    const { journal, groups } = journalIn(folder);
    const [, sealed] = await Promise.all([journal.append(entry(0)), journal.seal()]);
    strictEqual(groups.length, 1);
    await journal.remove(sealed);
    await journal.close();
    deepStrictEqual(readdirSync(folder), []);
  });

  it('makes no folder, and has nothing to seal, as long as nothing is appended', async () => {
    const folder = newFolder();
    const { journal } = journalIn(folder);
    await journal.replay(() => {});
    deepStrictEqual(await journal.seal(), []);
    await journal.close();
    ok(!existsSync(folder));
  });

  it('appends to no segment of an earlier process, and reads them in their order', async () => {
    const folder = newFolder();
    for (let i = 0; i < 11; i++) {
      const { journal } = journalIn(folder);
      await journal.replay(() => {});
      await journal.append(entry(i));
      await journal.close();
    }
    strictEqual(readdirSync(folder).length, 11);
    for (const name of ['000000000001.ndjson.damaged', 'a000000000001.ndjson'])
      cpSync(join(folder, '000000000001.ndjson'), join(folder, name));
    deepStrictEqual(
      await replayed(folder),
      Array.from({ length: 11 }, (_, i) => entry(i)),
    );
  });
});

describe('a journal that a crash left behind', () => {
  it('ends with zeros where the file had grown and nothing was written: they are dropped without a word', async () => {
    const folder = await journalOf(3);
    for (const zeros of [100, 100_000]) {
      appendFileSync(join(folder, '000000000001.ndjson'), '\0'.repeat(zeros));
      const log = recordedLog();
      deepStrictEqual(await replayed(folder, log), [0, 1, 2].map(entry));
      deepStrictEqual(log.lines, []);
    }
  });

  it('loses at most the last line wherever it is cut', async () => {
    const folder = await journalOf(3);
    const path = join(folder, '000000000001.ndjson');
    const whole = readFileSync(path);
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(path, whole.subarray(0, length));
      const lines = whole.subarray(0, length).toString().split('\n').length - 1;
      deepStrictEqual(await replayed(folder), [0, 1, 2].slice(0, lines).map(entry));
    }
  });
});

describe('a damaged journal', () => {
  it('is read past the damage, which is named by file and line', async () => {
    const folder = await journalOf(4);
    const path = join(folder, '000000000001.ndjson');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"count":1,', '"count":9,'));
    const last = { ...entry(5), countedAt: maxTime };
    const bad = ['nonsense\n', ` ${formatJournalLine(last)}`];
    const lines = [...bad, formatJournalLine({ ...last, countedAt: maxTime + 1 }), formatJournalLine(last)];
    appendFileSync(path, lines.join(''));
    const log = recordedLog();
    deepStrictEqual(await replayed(folder, log), [...[0, 2, 3].map(entry), last]);
    strictEqual(log.lines.length, 1);
    ok(log.lines[0]?.startsWith(`error: the journal is damaged at ${path}:2: 4 lines skipped`), log.lines[0]);
  });

  it('is kept under another name when it is removed, never that of an earlier one', async () => {
    const folder = newFolder();
    mkdirSync(folder, { recursive: true });
    for (const n of [1, 2, 3]) {
      writeFileSync(join(folder, '000000000001.ndjson'), `damage ${n}\n`);
      const { journal } = journalIn(folder);
      await journal.replay(() => {});
      await journal.remove(await journal.seal());
      await journal.close();
    }
    deepStrictEqual(
      readdirSync(folder)
        .toSorted()
        .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
      [
        ['000000000001.ndjson.2.damaged', 'damage 2\n'],
        ['000000000001.ndjson.3.damaged', 'damage 3\n'],
        ['000000000001.ndjson.damaged', 'damage 1\n'],
      ],
    );
  });
});

describe('a journal whose folder cannot be written to', () => {
  it('refuses everybody who waits, says so once with what to do, and goes on when it can', async () => {
    const folder = newFolder();
    const log = recordedLog();
    const { journal, groups } = journalIn(folder, undefined, log);
    mkdirSync(join(folder, '..'), { recursive: true });
    writeFileSync(folder, 'in the way');
    const waiters = await Promise.allSettled([0, 1, 2].map(async (i) => await journal.append(entry(i))));
    deepStrictEqual(
      waiters.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    );
    const message = `${folder} is not a folder: move away what is there`;
    await rejects(journal.append(entry(3)), { code: 'write-failed', message });
    deepStrictEqual(groups, []);
    strictEqual(journal.failure?.message, message);

    rmSync(folder);
    await journal.append(entry(4));
    strictEqual(journal.failure, null);
    await journal.close();
    deepStrictEqual(await replayed(folder), [entry(4)]);
    deepStrictEqual(log.lines, [
      `error: counts cannot be saved: ${message}`,
      'info: counts can be saved again',
    ]);
  });

  it('names why a segment cannot be removed', async () => {
    const { journal } = journalIn(newFolder());
    await rejects(journal.remove([tempFolder()]), isUnavailable);
    await journal.remove([join(tempFolder(), 'missing')]);
  });
});

describe('a journal whose folder is taken away while it is open', () => {
  for (const isReplaced of [false, true]) {
    it(`refuses the next group where ${isReplaced ? 'a copy is in its place' : 'none is'}, names the file, and begins a new one`, async () => {
      const folder = newFolder();
      const { journal, groups } = journalIn(folder);
      await journal.append(entry(0));
      renameSync(folder, `${folder}.old`);
      if (isReplaced) cpSync(`${folder}.old`, folder, { recursive: true });
      await rejects(journal.append(entry(1)), isUnavailable);
      deepStrictEqual(groups, [[entry(0)]]);
      match(
        journal.failure?.message ?? '',
        /000000000001\.ndjson was deleted or moved while the service runs: /,
      );

      await journal.append(entry(2));
      strictEqual(journal.failure, null);
      await journal.close();
      strictEqual((await replayed(folder)).at(-1)?.count, 2);
    });
  }

  it('saves again without a post, once it was asked what fails', async () => {
    const folder = newFolder();
    const { journal } = journalIn(folder);
    await journal.append(entry(0));
    rmSync(folder, { recursive: true });
    await rejects(journal.append(entry(1)), isUnavailable);
    await journal.seal();
    journal.retry();
    await journal.close();
    strictEqual(journal.failure, null);
  });
});

function entry(i: number): JournalEntry {
  return { id: botId('190519304972663312'), count: i, countedAt: 1_700_000_000_000 + i };
}

function newFolder(): string {
  return join(tempFolder(), 'var', 'journal');
}

function journalIn(
  folder: string,
  segmentBytes = 1_000_000,
  log: RecordedLog = recordedLog(),
): { journal: Journal; groups: JournalEntry[][] } {
  const groups: JournalEntry[][] = [];
  const onDurable = (entries: readonly JournalEntry[]): void => void groups.push([...entries]);
  return { journal: new Journal({ folder, log, onDurable, segmentBytes }), groups };
}

async function journalOf(length: number): Promise<string> {
  const folder = newFolder();
  const { journal } = journalIn(folder);
  for (let i = 0; i < length; i++) await journal.append(entry(i));
  await journal.close();
  return folder;
}

async function replayed(folder: string, log = silentLog): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  const journal = new Journal({ folder, log, onDurable: () => {} });
  await journal.replay((entry) => entries.push(entry));
  await journal.close();
  return entries;
}
