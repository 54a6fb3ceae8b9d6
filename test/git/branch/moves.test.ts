import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isUnavailable } from '../../../src/bot/errors.ts';
import { toNewFile } from '../../../src/git/commit-files.ts';
import type { Committer } from '../../../src/git/branch/committer.ts';
import type { CommitEvent } from '../../../src/git/branch/feed.ts';
import { maxObjectBytes } from '../../../src/git/objects.ts';
import { GitRunner } from '../../../src/git/git-runner.ts';
import { RepositoryOpener } from '../../../src/git/repository.ts';
import { type Log, silentLog } from '../../../src/lib/log.ts';
import { committerOn, committerWith } from '../../support/committing.ts';
import { eventually } from '../../support/eventually.ts';
import { keyEditor, type KeyEdit, setKey } from '../../support/keys.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { goOnAlone, replaceGit } from '../../support/replaced-git.ts';
import { testRepository, type TestRepository } from '../../support/repository.ts';
import { gitSync } from '../../support/run-sync.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const path = 'bots/312/190519304972663312.en.md';
const other = 'bots/001/1.en.md';
const text = 'name: Homer\ncategory: fun\n\nnsfw: false\n\nThe page.\n';

describe('a commit of the service', () => {
  it('is published once its files and the index are in place, whether it is of edits or a merge @slow', async () => {
    const repository = testRepository({ [path]: text });
    const merge = prepared(repository, () => repository.write(path, text.replace('fun', 'music')));
    const seen: string[] = [];
    const file = toNewFile(text.replace('fun', 'music'));
    const publish = (event: CommitEvent): void => {
      strictEqual(repository.git('rev-parse', 'HEAD'), event.commit);
      if (event.commit === merge)
        deepStrictEqual(event.ref === 'branch' && event.contents, new Map([[path, file.content]]));
      strictEqual(repository.status(), '');
      seen.push(/category: (.*)/.exec(repository.read(path))?.[1] ?? '');
    };
    const committer = committerOn(repository.folder, { branch: { publish } });
    await committer.move(async () => ({ commit: merge, refs: new Map(), files: new Map([[path, file]]) }));
    await committer.commit(setKey(path, 'category', 'games'));
    deepStrictEqual(seen, ['music', 'games']);
  });

  it('of a merge is shown where the process that runs git is killed, and git goes on @slow', async () => {
    const repository = testRepository({ [path]: text });
    const merge = prepared(repository, () => repository.write(path, text.replace('fun', 'music')));
    const input = join(tempFolder(), 'input');
    const takeBack = replaceGit('update-ref', goOnAlone(input));
    const runner = new GitRunner();
    const repositoryOpener = new RepositoryOpener(repository.folder, runner);
    try {
      const moving = moveTo(committerWith(keyEditor, repository.folder, { repositoryOpener }), merge);
      await eventually(() => existsSync(input));
      process.kill(Number(runner.pid), 'SIGKILL');
      strictEqual(await moving, merge);
      strictEqual(repository.status(), '');
      match(repository.read(path), /music/);
    } finally {
      takeBack();
      repositoryOpener.close();
      runner.close();
    }
  });

  it('is planned again where the branch moves after it was planned', async () => {
    const repository = testRepository({ [path]: text });
    const tips: string[] = [];
    const moving = (current: string | null, edit: KeyEdit): string | null => {
      tips.push(repository.git('rev-parse', 'HEAD'));
      if (tips.length === 1) {
        const commit = repository.git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'Of a person');
        repository.git('update-ref', 'refs/heads/main', commit);
      }
      return keyEditor.edit(current, edit);
    };
    const committer = committerWith({ ...keyEditor, edit: moving }, repository.folder);
    await committer.commit(setKey(path, 'category', 'music'));
    strictEqual(tips.length, 2);
    strictEqual(repository.git('log', '--format=%s'), 'Set category\nOf a person\nBegin');
    strictEqual(repository.read(path), text.replace('fun', 'music'));
    strictEqual(repository.status(), '');
  });

  it('that the disk does not confirm is in Git, but an error until it does, for what changes nothing too @slow', async () => {
    const repository = testRepository({ [path]: text });
    const commit = prepared(repository, () => repository.write(path, text.replace('fun', 'music')));
    const folder = join(repository.folder, '.git/refs/botshelf');
    const publish = (): void => {
      renameSync(folder, `${folder}.away`);
      symlinkSync('botshelf', folder);
    };
    const committer = committerOn(repository.folder, { branch: { publish } });
    const unconfirmed = { code: 'unavailable', message: /saved in Git, but the disk did not confirm it/ };
    await rejects(moveTo(committer, commit, new Map([['refs/botshelf/base', commit]])), unconfirmed);
    strictEqual(repository.git('rev-parse', 'HEAD'), commit);
    await rejects(committer.commit(setKey(path, 'category', 'music')), unconfirmed);
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    strictEqual(await committer.commit(setKey(path, 'category', 'music')), null);
  });
});

describe('a move of the branch', () => {
  it('brings what is new, changed and gone, and other refs, and leaves work tree and index clean', async () => {
    const repository = testRepository({ [path]: text, [other]: text, 'docs/a': 'a', 'x.bin': 'old' });
    const commit = prepared(repository, () => {
      repository.write(path, text.replace('fun', 'music'));
      repository.write('bots/002/2.en.md', 'new');
      writeFileSync(join(repository.folder, 'docs'), 'a file where a folder was');
      repository.write('x.bin', 'new \u0000 binary');
      symlinkSync('x.bin', join(repository.folder, 'link'));
    }, [other, 'docs/a']);
    const committer = committerOn(repository.folder);
    strictEqual(await moveTo(committer, commit, new Map([['refs/botshelf/base', commit]])), commit);
    strictEqual(repository.status(), '');
    strictEqual(repository.git('rev-parse', 'HEAD', 'refs/botshelf/base'), `${commit}\n${commit}`);
    strictEqual(repository.read('docs'), 'a file where a folder was');
    strictEqual(readlinkSync(join(repository.folder, 'link')), 'x.bin');
    strictEqual(existsSync(join(repository.folder, 'bots/001')), false);
  });

  it('brings a file too large for memory, and its later version @long', async () => {
    const repository = testRepository({ [path]: text });
    const large = Buffer.alloc(maxObjectBytes + 1, 'x').toString();
    const commit = prepared(repository, () => repository.write(path, large));
    const committer = committerOn(repository.folder);
    await moveTo(committer, commit);
    strictEqual(repository.read(path) === large, true);
    strictEqual(repository.status(), '');
    await rejects(committer.commit(setKey(path, 'nsfw', 'true')), /312\.en\.md has more than 10 MiB/);
    const mended = repository.git('commit-tree', 'HEAD~^{tree}', '-p', 'HEAD', '-m', 'Mend it');
    await moveTo(committer, mended);
    strictEqual(repository.read(path), text);
    strictEqual(repository.status(), '');
  });

  it('makes an empty folder for a submodule, as git does, and takes it away again', async () => {
    const repository = testRepository({ [path]: text });
    const begin = repository.git('rev-parse', 'HEAD');
    const module = 'bots/005/module';
    repository.git('update-index', '--add', '--cacheinfo', `160000,${begin},${module}`);
    const added = repository.git('commit-tree', repository.git('write-tree'), '-p', begin, '-m', 'Add it');
    repository.git('reset', '-q', '--hard', begin);
    const committer = committerOn(repository.folder);
    await moveTo(committer, added);
    strictEqual(existsSync(join(repository.folder, module)), true);
    strictEqual(repository.status(), '');
    const taken = repository.git('commit-tree', `${begin}^{tree}`, '-p', added, '-m', 'Take it away');
    await moveTo(committer, taken);
    strictEqual(existsSync(join(repository.folder, module)), false);
    strictEqual(repository.status(), '');
  });

  it('makes files executable, or no longer so, changed or not, and else keeps their modes', async () => {
    const modes = { [path]: 0o600, 'run.sh': 0o640, 'both.sh': 0o750 };
    const repository = testRepository({ [path]: text, 'run.sh': 'a', 'both.sh': 'b' });
    const change = (name: string, mode: number): void => chmodSync(join(repository.folder, name), mode);
    change('both.sh', 0o755);
    repository.commit({});
    const commit = prepared(repository, () => {
      change('run.sh', 0o755);
      change('both.sh', 0o644);
      repository.write('both.sh', 'B');
      repository.write(path, 'new');
    });
    for (const [name, mode] of Object.entries(modes)) change(name, mode);
    const committer = committerOn(repository.folder);
    await moveTo(committer, commit);
    const now = Object.keys(modes).map((name) => statSync(join(repository.folder, name)).mode & 0o777);
    deepStrictEqual(now, [0o600, 0o750, 0o640]);
    strictEqual(repository.read('both.sh'), 'B');
    strictEqual(repository.status(), '');
  });

  it('leaves a file with uncommitted edits as it is, names it until it is clean, and brings every other @slow', async () => {
    const [third, last] = ['bots/003/3.en.md', 'bots/004/4.en.md'];
    const repository = testRepository({ [path]: text, [other]: text, [third]: text, [last]: text });
    const changed = text.replace('fun', 'music');
    const commit = prepared(repository, () => {
      for (const name of [path, third, last]) repository.write(name, changed);
    }, [other]);
    const edited = text.replace('The page.', 'A better page.');
    for (const name of [path, other, last]) repository.write(name, edited);
    const committer = committerOn(repository.folder);
    await moveTo(committer, commit);
    strictEqual(repository.git('rev-parse', 'HEAD'), commit);
    for (const name of [path, other, last]) strictEqual(repository.read(name), edited);
    strictEqual(repository.read(third), changed);
    const outdated = (): string[] => committer.outdatedPaths().map((each) => each.path);
    deepStrictEqual(outdated().toSorted(), [other, last, path]);
    await eventually(() => repository.tryGit('checkout', '-q', '--', path) === 0);
    rmSync(join(repository.folder, other));
    await eventually(() => deepStrictEqual(outdated(), [last]));
    strictEqual(repository.read(path), changed);
    await eventually(() => repository.tryGit('checkout', '-q', '--', last) === 0);
    await committer.close();
    strictEqual(repository.read(last), changed, 'at the latest when the service stops');
    strictEqual(repository.status(), '');
  });

  it('brings every file but the one whose path cannot be written, and names that one @long', async () => {
    const repository = testRepository({ [path]: text });
    const blob = hashObject(repository, text);
    const long = `bots/001/${'x'.repeat(300)}.md`;
    const blocked = 'bots/005/a/b/c.md';
    const tree = treeOf(repository, [other, path, long, blocked], blob);
    const commit = repository.git('commit-tree', tree, '-p', 'HEAD', '-m', 'With odd paths');
    repository.write('bots/005/a', 'a file of a person where a folder is needed');
    const committer = committerOn(repository.folder);
    await moveTo(committer, commit);
    strictEqual(repository.read(other), text);
    const reasons = new Map(committer.outdatedPaths().map(({ path, reason }) => [path, reason]));
    deepStrictEqual([...reasons.keys()].toSorted(), [long, blocked].toSorted());
    match(String(reasons.get(long)), /ENAMETOOLONG/);
    match(String(reasons.get(blocked)), /ENOTDIR|EEXIST/);
    strictEqual(repository.read('bots/005/a'), 'a file of a person where a folder is needed');
    await committer.commit(setKey(path, 'category', 'music'));
    strictEqual(repository.git('diff', '--cached', '--name-only'), '');
    rmSync(join(repository.folder, 'bots/005/a'));
    await eventually(
      () =>
        deepStrictEqual(
          committer.outdatedPaths().map((each) => each.path),
          [long],
        ),
      10_000,
    );
    strictEqual(repository.read(blocked), text);
  });

  it('goes between the commits of owners, prepared again on each tip @slow', async () => {
    const repository = testRepository({ [path]: text, [other]: text });
    const committer = committerOn(repository.folder);
    const posting = (async () => {
      for (let n = 0; n < 20; n++) await committer.commit(setKey(path, `key${n}`, n));
    })();
    let tips = 0;
    const move = await committer.move(async (_, tip) => {
      tips++;
      const tree = repository.git('rev-parse', `${tip}^{tree}`);
      return {
        commit: repository.git('commit-tree', tree, '-p', tip, '-m', `Prepared for the ${tips}. time`),
        refs: new Map(),
      };
    });
    await posting;
    repository.git('merge-base', '--is-ancestor', move?.commit ?? '', 'HEAD');
    for (let n = 0; n < 20; n++) match(repository.git('show', `HEAD:${path}`), new RegExp(`key${n}: ${n}`));
    strictEqual(repository.status(), '');
  });

  it('waits while a person merges or rebases', async () => {
    const repository = testRepository({ [path]: text });
    const commit = prepared(repository, () => repository.write(path, 'new'));
    mkdirSync(join(repository.folder, '.git/rebase-merge'));
    const log = recordedLog();
    await rejects(moveTo(committerOn(repository.folder, { log }), commit), isUnavailable);
    strictEqual(log.lines.length, 1, 'it is not tried again');
    rmSync(join(repository.folder, '.git/rebase-merge'), { recursive: true });
    strictEqual(await moveTo(committerOn(repository.folder), commit), commit);
  });

  it('writes nothing outside of the work tree, into .git or into var, whatever the tree says @slow', async () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (_, message) => void warnings.push(message) };
    const repository = testRepository({ [path]: text });
    const outside = tempFolder();
    symlinkSync(outside, join(repository.folder, 'bots/001'));
    const blob = hashObject(repository, text);
    const evil = [other, '.git/hooks/x', 'var/lock', 'bots/002/a\nb.md'];
    const tree = treeOf(repository, [...evil, path], blob);
    const commit = repository.git('commit-tree', tree, '-p', 'HEAD', '-m', 'By a stranger');
    const committer = committerOn(repository.folder, { log });
    await moveTo(committer, commit);
    for (const name of ['1.en.md', 'lock', 'x']) strictEqual(existsSync(join(outside, name)), false);
    strictEqual(existsSync(join(repository.folder, '.git/hooks/x')), false);
    strictEqual(existsSync(join(repository.folder, 'var/lock')), false);
    deepStrictEqual(
      new Set(warnings.map((warning) => warning.split(' is behind')[0])),
      new Set(['".git/hooks/x"', `"${other}"`, '"var/lock"']),
    );
  });
});

/** Makes a commit of what a person does, and takes the clone back to where it was. */
function prepared(repository: TestRepository, work: () => void, removed: readonly string[] = []): string {
  for (const gone of removed) repository.git('rm', '-q', gone);
  work();
  const commit = repository.commit({});
  repository.git('reset', '-q', '--hard', 'HEAD~');
  return commit;
}

async function moveTo(
  committer: Committer<KeyEdit>,
  commit: string,
  refs: ReadonlyMap<string, string> = new Map(),
): Promise<string | undefined> {
  return (await committer.move(async () => await Promise.resolve({ commit, refs })))?.commit;
}

function hashObject({ folder }: TestRepository, text: string): string {
  return gitSync({ args: ['hash-object', '-w', '--stdin'], cwd: folder, input: text });
}

/** A tree as no git of a person would make it: with any path at all. */
function treeOf(repository: TestRepository, paths: readonly string[], blob: string): string {
  const names = new Map<string, string[]>();
  for (const path of paths) {
    const [first = '', ...rest] = path.split('/');
    names.set(first, [...(names.get(first) ?? []), rest.join('/')]);
  }
  const entries = [...names].map(([name, below]) =>
    below.includes('')
      ? Buffer.from(`100644 ${name}\0${Buffer.from(blob, 'hex').toString('latin1')}`, 'latin1')
      : Buffer.from(
          `40000 ${name}\0${Buffer.from(treeOf(repository, below, blob), 'hex').toString('latin1')}`,
          'latin1',
        ),
  );
  const args = ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'];
  return gitSync({ args, cwd: repository.folder, input: Buffer.concat(entries) });
}
