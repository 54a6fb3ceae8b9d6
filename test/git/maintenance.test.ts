import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStateRef, pruneHistory } from '../../src/counts/state-ref.ts';
import { Committer } from '../../src/git/branch/committer.ts';
import { Maintenance } from '../../src/git/maintenance.ts';
import { moveRefs, packRefs } from '../../src/git/refs.ts';
import type { Repository } from '../../src/git/repository.ts';
import { silentLog } from '../../src/lib/log.ts';
import { eventually } from '../support/eventually.ts';
import { keyEditor, setKey } from '../support/keys.ts';
import { openerOf, openUntilEnd } from '../support/opened.ts';
import { fastImport, formatCommit, type TestRepository, testRepository } from '../support/repository.ts';
import { gitSync } from '../support/run-sync.ts';

const path = 'bots/001/1.en.md';

const prune = async (opened: Repository): Promise<number | undefined> =>
  await pruneHistory(opened, Date.now() / 1000 - 30 * 24 * 60 * 60);

async function maintain({ folder }: TestRepository): Promise<void> {
  const maintenance = new Maintenance({ repositoryOpener: openerOf(folder), log: silentLog, prune });
  await maintenance.run();
  await maintenance.close();
}

describe('maintenance', () => {
  it('keeps the packs few and the refs packed while commits go on @long', async () => {
    const repository = testRepository({ [path]: 'name: One\n' });
    const lost = repository.git('commit-tree', 'HEAD^{tree}', '-m', 'Lost by a person');
    const repositoryOpener = openerOf(repository.folder);
    const maintenance = new Maintenance({ repositoryOpener, log: silentLog, prune });
    const branch = { publish: () => maintenance.packAdded() };
    const committer = new Committer({
      repositoryOpener,
      editor: keyEditor,
      var: join(repository.folder, 'var'),
      log: silentLog,
      branch,
    });
    const state = createStateRef(repositoryOpener, silentLog, branch);
    let tip: string | null = null;
    for (let n = 0; n < 40; n++) {
      await committer.commit(setKey(path, 'count', n));
      if (n % 5 !== 0) continue;
      tip = await state.commit(tip, new Map([['00/01.json', `${n}\n`]]), 'Count 1 bot');
    }
    await maintenance.run();
    await maintenance.close();
    await committer.close();
    const packs = readdirSync(join(repository.folder, '.git/objects/pack')).filter((name) =>
      name.endsWith('.pack'),
    );
    ok(packs.length <= 20, `${packs.length} packs are left of 48`);
    ok(existsSync(join(repository.folder, '.git/packed-refs')));
    ok(existsSync(join(repository.folder, '.git/objects/info/commit-graphs')));
    strictEqual(repository.git('rev-list', '--count', 'HEAD'), '41');
    strictEqual(repository.git('rev-list', '--count', 'refs/botshelf/state'), '8');
    strictEqual(repository.git('cat-file', '-t', lost), 'commit', 'what no ref reaches stays');
    strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
    strictEqual(repository.status(), '');
  });

  it('makes no name of a ref durable between the packing of refs and the sync of the file that has them', async () => {
    const { folder, git } = testRepository({ [path]: 'name: One\n' });
    const repository = await openUntilEnd(folder);
    const updates = new Map([['refs/heads/other', { from: null, to: git('rev-parse', 'HEAD') }]]);
    const events: string[] = [];
    let moving: Promise<unknown> | undefined;
    const run: Repository['run'] = async (args, options) => {
      const output = await repository.run(args, options);
      moving = moveRefs(repository, updates).then(() => events.push('moved'));
      await eventually(() => git('rev-parse', '--verify', '--quiet', 'refs/heads/other'));
      await sleep(20);
      events.push('packed');
      return output;
    };
    await packRefs({ ...repository, run });
    await moving;
    deepStrictEqual(events, ['packed', 'moved']);
  });

  it('waits for the gc of a person, but not for ever for one that was killed', async () => {
    const repository = testRepository({ [path]: 'name: One\n' });
    const pid = join(repository.folder, '.git/gc.pid');
    const packedRefs = join(repository.folder, '.git/packed-refs');
    writeFileSync(pid, '1 elsewhere');
    await maintain(repository);
    strictEqual(existsSync(packedRefs), false);
    const yesterday = Date.now() / 1000 - 24 * 60 * 60;
    utimesSync(pid, yesterday, yesterday);
    await maintain(repository);
    strictEqual(existsSync(packedRefs), true);
  });

  it('removes what a killed repack has left, without a restart', async () => {
    const repository = testRepository({ [path]: 'name: One\n' });
    const left = join(repository.folder, '.git/objects/pack/.tmp-1-pack-0a.pack');
    writeFileSync(left, '');
    utimesSync(left, 0, 0);
    await maintain(repository);
    strictEqual(existsSync(left), false);
  });

  it('keeps the objects of a pack whose git was killed before it wrote the index', async () => {
    const repository = testRepository({ [path]: 'name: One\n' });
    const lost = repository.git('commit-tree', 'HEAD^{tree}', '-m', 'Fetched');
    const packs = join(repository.folder, '.git/objects/pack');
    const args = ['pack-objects', '-q', join(packs, 'pack')];
    const name = gitSync({ args, cwd: repository.folder, input: `${lost}\n` }).trim();
    repository.git('prune-packed');
    rmSync(join(packs, `pack-${name}.idx`));
    await maintain(repository);
    strictEqual(repository.git('cat-file', '-t', lost), 'commit');
    ok(existsSync(join(packs, `pack-${name}.mtimes`)), 'repacked as what no ref reaches');
  });

  it('prunes again in the next run where pruning has failed or could not be done, and then once a day', async () => {
    const { folder } = testRepository({ [path]: 'name: One\n' });
    const results = [new Error('the disk is full'), undefined, 0, 0];
    const tryPrune = async (): Promise<number | undefined> => {
      const [result] = results.splice(0, 1);
      if (result instanceof Error) throw result;
      return result;
    };
    const maintenance = new Maintenance({
      repositoryOpener: openerOf(folder),
      log: silentLog,
      prune: tryPrune,
    });
    for (let run = 0; run < 4; run++) await maintenance.run();
    await maintenance.close();
    strictEqual(results.length, 1);
  });

  it('deletes what was pruned from the state, but nothing that was reached yesterday @slow', async () => {
    const repository = testRepository({ [path]: 'name: One\n' });
    const old = [1, 2, 3].map((hour) => commitState(repository, hour, `${hour}`));
    const tree = repository.git('rev-parse', `${commitState(repository, 4, 'kept')}^{tree}`);
    const objects = join(repository.folder, '.git/objects');
    const fourDaysAgo = Date.now() / 1000 - 4 * 24 * 60 * 60;
    for (const file of readdirSync(objects, { recursive: true, encoding: 'utf8' })) {
      utimesSync(join(objects, file), fourDaysAgo, fourDaysAgo);
    }
    const lost = repository.git('commit-tree', 'HEAD^{tree}', '-m', 'Lost by a person');
    await maintain(repository);
    strictEqual(repository.git('rev-list', '--count', 'refs/botshelf/state'), '1');
    const all = repository.git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)').split('\n');
    deepStrictEqual(
      old.filter((commit) => all.includes(commit)),
      [],
    );
    ok(all.includes(lost));
    strictEqual(repository.git('rev-parse', 'refs/botshelf/state^{tree}'), tree);
    strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
  });
});

/** Commits a state as if at this hour forty days ago. Returns the commit. */
function commitState(repository: TestRepository, hour: number, text: string): string {
  const time = (Math.floor(Date.now() / 86_400_000) - 40) * 86_400 + hour * 3600;
  const ref = 'refs/botshelf/state';
  const parent = repository.git('for-each-ref', ref) === '' ? null : `${ref}^0`;
  fastImport(repository.folder, formatCommit(ref, { files: { '00/01.json': text }, at: time }, parent));
  return repository.git('rev-parse', ref);
}
