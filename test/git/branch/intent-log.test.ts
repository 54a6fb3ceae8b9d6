import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileChange } from '../../../src/git/history.ts';
import type { Repository } from '../../../src/git/repository.ts';
import { IntentLog } from '../../../src/git/branch/work-tree.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const change = (path: string): FileChange => ({
  path,
  before: null,
  after: { mode: '100644', id: 'a'.repeat(40) },
});

describe('the intent log', () => {
  let folders: Pick<Repository, 'gitDir' | 'folder'>;
  let file: string;
  let log: IntentLog;
  beforeEach(async () => {
    const folder = tempFolder();
    const gitDir = join(folder, '.git');
    mkdirSync(gitDir);
    folders = { folder, gitDir };
    file = join(gitDir, 'botshelf/intents');
    log = new IntentLog(folders);
    deepStrictEqual(await log.read(), []);
  });
  afterEach(async () => await log.close());

  it('returns after a crash what was appended, batch after batch', async () => {
    await log.append([change('a'), change('b\n"')]);
    await log.append([change('a')]);
    deepStrictEqual(await readAgain(), [change('a'), change('b\n"'), change('a')]);
  });

  it('takes a commit of 200,000 files, as an import of another list may be @long', async () => {
    await log.append(Array.from({ length: 200_000 }, (_, i) => change(String(i))));
    strictEqual(log.changes().length, 200_000);
  });

  it('leaves out a torn line, and appends behind the last whole one', async () => {
    await log.append([change('a')]);
    appendFileSync(file, '[{"path":"torn');
    const next = new IntentLog(folders);
    deepStrictEqual(await next.read(), [change('a')]);
    await next.append([change('b')]);
    await next.close();
    deepStrictEqual(await readAgain(), [change('a'), change('b')]);
  });

  it('keeps, when it is shortened, what came after the sync and what is still to do, to be synced again', async () => {
    await log.append([change('done'), change('failed')]);
    const logged = log.changes();
    await log.syncFiles(logged);
    await log.append([change('later')]);
    await log.shorten(logged.length, [change('failed')]);
    const left = [change('failed'), change('later')];
    deepStrictEqual(log.changes(), left);
    const next = new IntentLog(folders);
    deepStrictEqual([await next.read(), next.changes()], [left, left]);
    await next.close();
  });

  it('is empty when everything is done, and goes on', async () => {
    await log.append([change('a')]);
    await log.shorten(1, []);
    strictEqual(readFileSync(file, 'utf8'), '');
    await log.append([change('b')]);
    deepStrictEqual(await readAgain(), [change('b')]);
  });

  async function readAgain(): Promise<FileChange[]> {
    const again = new IntentLog(folders);
    const changes = await again.read();
    await again.close();
    return changes;
  }
});
