import { strictEqual } from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blobId } from '../../src/git/object-id.ts';
import { RepositoryDoor } from '../../src/git/repository.ts';
import { Settler } from '../../src/git/settler.ts';
import { UnsettledNote } from '../../src/git/unsettled.ts';
import { silentLog } from '../../src/log.ts';
import { testRepository } from '../support/repository.ts';

const path = 'bots/001/1.en.md';

describe('the settler', () => {
  it("takes an older text of ours in the work tree for ours, and for nobody's edit", async () => {
    const repository = testRepository({ [path]: 'first' });
    const door = new RepositoryDoor(repository.folder);
    const note = new UnsettledNote(join(repository.folder, 'var', 'unsettled.ndjson'));
    const settler = new Settler(door, note, silentLog);
    const lock = join(repository.folder, '.git/index.lock');
    const follow = async (before: string, after: string): Promise<void> => {
      const ids = { before: idOf(before), after: idOf(after) };
      const file = { id: ids.after, mode: '100644', content: Buffer.from(after) };
      const pending = {
        path,
        known: [ids.before],
        after: ids.after,
        commit: repository.git('rev-parse', 'HEAD'),
        edit: async (text: Buffer) => Buffer.concat([text, Buffer.from(', with our change')]),
        changes: [],
        torn: false,
        again: () => undefined,
      };
      await settler.committed([pending], new Map([[path, file]]), 'refs/heads/main');
    };
    writeFileSync(lock, '');
    await follow('first', 'second');
    strictEqual(repository.read(path), 'first');
    rmSync(lock);
    await follow('second', 'third');
    strictEqual(repository.read(path), 'third');
    await settler.close();
    door.close();
  });
});

function idOf(text: string): string {
  return blobId(Buffer.from(text), 'sha1');
}
