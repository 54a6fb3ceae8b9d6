import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatedFiles, parseFileTime } from '../../src/proposals/dated-files.ts';
import { atTime } from '../support/at-time.ts';
import { tempFolder } from '../support/temp-folder.ts';

const start = 1_700_000_000_000;
/** Returns the first letter of an entry. */
const groupOf = (entry: string): string => entry.charAt(0);
const nameAt = (time: number): string => `${time}-${'a'.repeat(32)}`;

describe('files that are named by their times', () => {
  /** Returns the time of a clock that agrees with the newest commit. */
  let confirmedTime = async (): Promise<number> => await Promise.resolve(Date.now());
  let folder: string;
  let files: DatedFiles<string>;
  beforeEach(async () => {
    folder = join(tempFolder(), 'a', 'b');
    files = new DatedFiles(folder, { maxAgeMs: 1000, maxFiles: 3, groupOf, confirmedTime });
    await files.load(() => 'known');
  });

  const entries = (): string[] => files.list().map(([, entry]) => entry);

  it('are in a folder and of a mode that nobody else can read', async () => {
    const name = await atTime(start, async () => await files.add('text', 'a'));
    match(name, new RegExp(`^${start}-[0-9a-f]{32}$`));
    strictEqual(parseFileTime(name), start);
    strictEqual(statSync(folder).mode & 0o777, 0o700);
    strictEqual(statSync(join(folder, name)).mode & 0o777, 0o600);
  });

  it('have times of their own, in the order in which they were added', async () => {
    await atTime(start, async () => {
      const names = [await files.add('a', 'a'), await files.add('b', 'b')];
      deepStrictEqual(names.map(parseFileTime), [start, start + 1]);
      deepStrictEqual(files.list(), [
        [names[0], 'a'],
        [names[1], 'b'],
      ]);
    });
  });

  it('end with their time, and are deleted when the next one is added', async () => {
    const name = await atTime(start, async () => await files.add('a', 'a'));
    await atTime(start + 999, async () => {
      strictEqual(await files.read(name), 'a');
      deepStrictEqual(entries(), ['a']);
    });
    await atTime(start + 1000, async () => {
      strictEqual(await files.read(name), undefined);
      deepStrictEqual(entries(), []);
      strictEqual(existsSync(join(folder, name)), true);
      const next = await files.add('b', 'b');
      deepStrictEqual(readdirSync(folder), [next]);
    });
  });

  it('are not deleted for their age by a clock that no commit confirms, and come back when it is right again', async () => {
    const confirmed = confirmedTime;
    confirmedTime = async () => await Promise.resolve(start + 500);
    files = new DatedFiles(folder, { maxAgeMs: 1000, maxFiles: 3, groupOf, confirmedTime });
    confirmedTime = confirmed;
    const name = await atTime(start, async () => await files.add('a', 'a'));
    const old = nameAt(start - 2000);
    writeFileSync(join(folder, old), '');
    await atTime(start + 31_536_000_000, async () => {
      deepStrictEqual(files.list(), []);
      const next = await files.add('b', 'b');
      await files.load(() => 'known');
      deepStrictEqual(readdirSync(folder).toSorted(), [name, next].toSorted());
    });
    await atTime(start + 999, async () => {
      await files.load(() => 'known');
      strictEqual(await files.read(name), 'a');
    });
  });

  it('are so many at most: the newest of the largest group goes, of equal ones that with the oldest', async () => {
    await atTime(start, async () => {
      for (const text of ['a', 'b1', 'b2', 'b3']) await files.add(text, text);
      deepStrictEqual(entries(), ['a', 'b1', 'b2']);
      await files.add('c', 'c');
      deepStrictEqual(entries(), ['a', 'b1', 'c']);
      await files.add('d', 'd');
      deepStrictEqual(entries(), ['b1', 'c', 'd']);
      strictEqual(readdirSync(folder).length, 3);
    });
  });

  it('are found again, but for those that are too old or no such files, and none is read that was not asked for', async () => {
    const [unknown, late] = [nameAt(start + 2), nameAt(start + 1500)];
    const others = [`${late}.txt`, `x${late}`, 'notes', 'no-entry'];
    for (const name of [nameAt(start), nameAt(start + 1), unknown, late, ...others])
      writeFileSync(join(folder, name), name);
    const asked: string[] = [];
    await atTime(start + 1001, async () => {
      files = new DatedFiles(folder, { maxAgeMs: 1000, maxFiles: 3, groupOf, confirmedTime });
      await files.load(async (name) => {
        asked.push(name);
        return await Promise.resolve(name === unknown ? undefined : 'known');
      });
      deepStrictEqual(asked, [unknown, late]);
      deepStrictEqual(files.list(), [[late, 'known']]);
      deepStrictEqual(readdirSync(folder).toSorted(), [...others, unknown, late].toSorted());
      strictEqual(await files.read('notes'), undefined);
      strictEqual(await files.read(nameAt(start + 1400)), undefined);
      await files.delete(['notes', unknown, late]);
      deepStrictEqual(readdirSync(folder).toSorted(), [...others, unknown].toSorted());
      deepStrictEqual(files.list(), []);
    });
  });
});
