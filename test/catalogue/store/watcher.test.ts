import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import fs, {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { isFolderName } from '../../../src/catalogue/page/layout.ts';
import { Watcher } from '../../../src/catalogue/store/watcher.ts';
import { eventually } from '../../support/eventually.ts';
import { holdIntervals } from '../../support/intervals.ts';
import { type RecordedLog, recordedLog } from '../../support/recorded-log.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('the watcher', () => {
  let root: string;
  let bots: string;
  let hints: Set<string>;
  let misses: number;
  let log: RecordedLog;
  let watch: Watcher | undefined;
  let pass: (seconds: number) => void;

  beforeEach('watch three folders with a file each', async () => {
    root = tempFolder();
    bots = join(root, 'bots');
    [hints, misses] = [new Set(), 0];
    for (const folder of ['001', '002', '003']) {
      mkdirSync(join(bots, folder), { recursive: true });
      writeFileSync(join(bots, folder, 'a.md'), 'a');
    }
    log = recordedLog();
    watch = new Watcher(bots, isFolderName, log, {
      onHint: (folder) => hints.add(folder),
      onMiss: () => (misses += 1),
    });
    pass = holdIntervals();
    watch.start();
    await eventually(() => misses > 0);
  });

  afterEach(async () => {
    await watch?.close();
    watch = undefined;
  });

  /** Waits for a hint on `folder` that `change` causes. */
  async function hinted(folder: string, change: () => void): Promise<void> {
    hints.clear();
    change();
    await eventually(() => hints.has(folder));
  }

  it('says that it works, and once that all may have changed before it did', () => {
    strictEqual(watch?.fault, null);
    strictEqual(misses, 1);
  });

  it('takes one inotify watch a folder, and none a file', async () => {
    const before = inotifyWatches();
    await watch?.close();
    watch = undefined;
    strictEqual(before - inotifyWatches(), 4);
  });

  it('hints at the folder of a file that was written, replaced, made or removed, and at no other', async () => {
    await hinted('001', () => appendFileSync(join(bots, '001/a.md'), 'b'));
    await hinted('001', () => renameSync(join(bots, '001/a.md'), join(bots, '001/b.md')));
    await hinted('001', () => writeFileSync(join(bots, '001/c.md'), ''));
    await hinted('001', () => rmSync(join(bots, '001/c.md')));
    deepStrictEqual([...hints], ['001']);
  });

  it('hints at what is no folder of bots', async () => {
    await hinted('', () => writeFileSync(join(bots, 'notes.txt'), ''));
    await hinted('', () => rmSync(join(bots, 'notes.txt')));
  });

  it('hints at a new folder, and at what is written there then', async () => {
    await hinted('777', () => mkdirSync(join(bots, '777')));
    await hinted('777', () => writeFileSync(join(bots, '777/a.md'), ''));
    await hintedForGood('777');
  });

  it('hints at a folder that is moved away, and back, and at what is written there then', async () => {
    await hinted('002', () => renameSync(join(bots, '002'), join(root, 'away')));
    await hinted('002', () => renameSync(join(root, 'away'), join(bots, '002')));
    await hintedForGood('002');
  });

  it('hints at a folder that takes the place of another at once', async () => {
    await hinted('002', () => {
      rmSync(join(bots, '002'), { recursive: true });
      mkdirSync(join(bots, '002'));
    });
    await hintedForGood('002');
  });

  it('says that all may have changed while bots/ is gone, and watches the one that comes in its place', async () => {
    const before = misses;
    renameSync(bots, join(root, 'away'));
    pass(2);
    strictEqual(misses, before + 2);
    mkdirSync(join(bots, '001'), { recursive: true });
    pass(1);
    await hintedForGood('001');
  });

  it('watches another bots/ that takes the place of the first at once', async () => {
    mkdirSync(join(root, 'other/001'), { recursive: true });
    renameSync(bots, join(root, 'away'));
    renameSync(join(root, 'other'), bots);
    const before = misses;
    pass(1);
    await eventually(() => misses > before);
    await hintedForGood('001');
  });

  it('watches another bots/ that has the inode of the first, as ext4 gives it', async () => {
    const { lstatSync } = fs;
    const { ino } = lstatSync(bots);
    const withInode = (path: string): fs.Stats | undefined => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      return stat && path === bots ? Object.assign(stat, { ino }) : stat;
    };
    Object.assign(fs, { lstatSync: withInode });
    syncBuiltinESMExports();
    try {
      rmSync(bots, { recursive: true });
      mkdirSync(bots);
      const before = misses;
      pass(1);
      await eventually(() => misses > before);
      await hinted('004', () => mkdirSync(join(bots, '004')));
    } finally {
      Object.assign(fs, { lstatSync });
      syncBuiltinESMExports();
    }
  });

  it('is silent once it is closed', async () => {
    await watch?.close();
    hints.clear();
    appendFileSync(join(bots, '001/a.md'), 'b');
    await rest(50);
    deepStrictEqual([...hints], []);
  });

  /** Waits until each of ten writes in `folder` has caused a hint: by then, all earlier hints have arrived. */
  async function hintedForGood(folder: string): Promise<void> {
    let inARow = 0;
    await eventually(async () => {
      hints.clear();
      appendFileSync(join(bots, folder, 'z.md'), 'z');
      const told = await eventually(() => hints.has(folder), 0.1).then(
        () => true,
        () => false,
      );
      inARow = told ? inARow + 1 : 0;
      return inARow === 10;
    });
  }
});

/** Returns the number of inotify watches of this process. */
function inotifyWatches(): number {
  const texts = readdirSync('/proc/self/fdinfo').map((name) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${name}`, 'utf8');
    } catch {
      return '';
    }
  });
  return texts.join('').match(/^inotify /gm)?.length ?? 0;
}
