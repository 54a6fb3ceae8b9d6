import { deepStrictEqual, match, notStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { committerOn } from '../../support/committing.ts';
import { setKey } from '../../support/keys.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { testRepository, type TestRepository } from '../../support/repository.ts';

const path = 'bots/001/1.en.md';
/** One of the pages whose long paths make the index larger than some blocks of a disk. */
const page = (i: number): string => `${`${'long'.repeat(50)}/`.repeat(5)}${i}.md`;
const rebuilt = [
  "warn: Git's index was missing or damaged, as by a power loss, and was rebuilt from the last commit: stage again what was staged",
];

describe('an index that a power loss has damaged', () => {
  let repository: TestRepository;
  let git: string;
  beforeEach(() => {
    const many = Array.from({ length: 16 }, (_, i) => [page(i), `${i}\n`]);
    repository = testRepository({ [path]: 'name: One\n', ...Object.fromEntries(many) });
    git = join(repository.folder, '.git');
  });

  /** Overwrites a file from a byte on with NUL. */
  const clear = (file: string, from: number): void => {
    writeFileSync(file, readFileSync(file).fill(0, from));
  };
  const cutOff = (length: number): void =>
    writeFileSync(join(git, 'index'), readFileSync(join(git, 'index')).subarray(0, length));
  const damages: Record<string, () => void> = {
    'is missing': () => rmSync(join(git, 'index')),
    'is empty': () => writeFileSync(join(git, 'index'), ''),
    'is full of NUL': () => clear(join(git, 'index'), 0),
    'ends in NUL': () => clear(join(git, 'index'), 8192),
    'is cut off at the end of a block': () => cutOff(8192),
    'is cut off where git does not notice': () => cutOff(readFileSync(join(git, 'index')).length - 3),
    'is cut off in an entry': () => cutOff(12_000),
    'is split, and its shared part is empty': () => writeFileSync(sharedPart(), ''),
    'is split, and its shared part is full of NUL': () => clear(sharedPart(), 0),
    'is split, and its shared part is missing': () => rmSync(sharedPart()),
    'is split, and its shared part is another': () => {
      const whole = readFileSync(join(git, 'index'));
      repository.git('update-index', '--force-remove', page(9));
      writeFileSync(sharedPart(), whole);
    },
  };

  for (const [name, damage] of Object.entries(damages)) {
    it(`is rebuilt from HEAD at the start where it ${name}, and files of people stay`, async () => {
      repository.write(page(0), 'edited by a person');
      damage();
      const log = recordedLog();
      const committer = committerOn(repository.folder, { log });
      await committer.recover();
      deepStrictEqual(log.lines, rebuilt);
      strictEqual(repository.status(), `M ${page(0)}`);
      notStrictEqual(await committer.commit(setKey(path, 'key', 'value')), null);
      strictEqual(repository.status(), `M ${page(0)}`);
      strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
    });
  }

  for (const name of ['is empty', 'is missing'])
    it(`is rebuilt when the next change comes, where it ${name}`, async () => {
      const committer = committerOn(repository.folder);
      await committer.recover();
      damages[name]?.();
      notStrictEqual(await committer.commit(setKey(path, 'key', 'value')), null);
      strictEqual(repository.status(), '');
    });

  it('is named while it cannot be rebuilt, and no longer once it can', async () => {
    damages['is empty']?.();
    const tree = repository.git('rev-parse', 'HEAD^{tree}');
    const object = join(git, 'objects', tree.slice(0, 2), tree.slice(2));
    renameSync(object, join(git, 'away'));
    const committer = committerOn(repository.folder);
    await committer.recover();
    const [outdated, ...others] = committer.outdatedPaths();
    deepStrictEqual(others, []);
    strictEqual(outdated?.path, '.git/index');
    match(outdated.reason, /^is damaged and could not be rebuilt \(.*\): run "git fsck"$/s);
    await rejects(committer.commit(setKey(path, 'key', 'value')));
    renameSync(join(git, 'away'), object);
    notStrictEqual(await committer.commit(setKey(path, 'key', 'value')), null);
    deepStrictEqual(committer.outdatedPaths(), []);
    strictEqual(repository.status(), '');
  });

  it('is not taken for damaged, and replaced, where it cannot be opened', async () => {
    repository.write('staged', 'by a person');
    repository.git('add', 'staged');
    const index = join(git, 'index');
    renameSync(index, join(git, 'away'));
    renameSync(join(git, 'hooks'), index);
    const committer = committerOn(repository.folder);
    await committer.recover();
    strictEqual(statSync(index).isDirectory(), true);
    renameSync(index, join(git, 'hooks'));
    renameSync(join(git, 'away'), index);
    strictEqual(repository.status(), 'A  staged');
  });

  /** Splits the index where it is not yet, and returns the path of its shared part. */
  function sharedPart(): string {
    const names = (): string[] => readdirSync(git).filter((name) => name.startsWith('sharedindex.'));
    if (names().length === 0) repository.git('update-index', '--split-index');
    return join(git, names()[0] ?? '');
  }
});
