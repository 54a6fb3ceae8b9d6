import { match, ok, strictEqual } from 'node:assert/strict';
import { chownSync, lstatSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkClone, checkLocks, checkOwner } from '../../src/commands/doctor.ts';
import { doctorContext } from '../support/doctor.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('what botshelf doctor says of Git', () => {
  const { folder, git } = testRepository({ [pagePath('7')]: mainPage() });

  it('is whether the clone takes commits', async () => {
    const context = doctorContext(folder);
    match((await checkClone(context)).reason, /is on main, and this user can write/);
    writeFileSync(join(folder, '.git/MERGE_HEAD'), '');
    strictEqual((await checkClone(context)).state, 'warning');
    rmSync(join(folder, '.git/MERGE_HEAD'));
    git('switch', '-q', '--detach');
    const { state, reason, fix } = await checkClone(context);
    git('switch', '-q', 'main');
    const said = 'error HEAD is on no branch: finish the rebase, or run "git switch <branch>"';
    strictEqual(`${state} ${reason}: ${fix}`, said);
  });

  it('is which pages have uncommitted edits, and since when', async () => {
    const page = join(folder, pagePath('1'));
    mkdirSync(dirname(page), { recursive: true });
    writeFileSync(page, mainPage());
    utimesSync(page, 1_700_000_000, 1_700_000_000);
    const { state, reason, fix } = await checkClone(doctorContext(folder));
    rmSync(page);
    strictEqual(state, 'warning');
    match(reason, /"bots\/001\/1\.en\.md" has had uncommitted edits since 2023-11-14T22:13:20\.000Z/);
    strictEqual(fix, 'commit or discard them');
  });

  it('is which files belong to another user than the owner of the clone', async () => {
    const repository = { folder, commonDir: join(folder, '.git') };
    const config = { catalogue: folder, var: join(tempFolder(), 'var') };
    const { uid, gid } = lstatSync(folder);
    strictEqual(await checkOwner(repository, config, { uid, gid }), null);

    const looked = ['.git', '.git/objects', '.git/refs/heads', 'bots'].flatMap((name) => [
      name,
      ...readdirSync(join(folder, name)),
    ]);
    const { state, reason, fix } = (await checkOwner(repository, config, { uid: uid + 1, gid })) ?? {};
    strictEqual(state, 'warning');
    const sentence = `another user than that of the clone owns ${looked.length} paths, such as .git, `;
    ok(reason?.startsWith(sentence), reason);
    strictEqual(fix, `chown -R ${uid + 1}:${gid} ${folder} ${config.var}`);

    mkdirSync(join(config.var, 'appdata/a'), { recursive: true });
    writeFileSync(join(config.var, 'appdata/a/picture'), '');
    const all = await checkOwner(repository, config, { uid: uid + 1, gid });
    match(all?.reason ?? '', new RegExp(` owns ${looked.length + 4} paths`));
  });

  it('is never that root should own all of it', async () => {
    const { folder } = testRepository({ [pagePath('7')]: mainPage() });
    const config = { catalogue: folder, var: join(folder, 'var') };
    const { gid } = lstatSync(folder);
    if (process.getuid?.() === 0) chownSync(join(folder, 'bots'), 65534, gid);
    const outcome = await checkOwner({ folder, commonDir: join(folder, '.git') }, config, { uid: 0, gid });
    strictEqual(
      outcome?.fix,
      `stop the service, and give all of it to the user that runs it: chown -R USER ${folder}`,
    );
  });

  it('is which locks are stale, with the command that removes them', async () => {
    const context = doctorContext(folder);
    mkdirSync(join(folder, '.git/refs/remotes/origin'), { recursive: true });
    for (const name of ['index.lock', 'refs/remotes/origin/main.lock']) {
      const lock = join(folder, '.git', name);
      writeFileSync(lock, '');
      strictEqual((await checkLocks(context)).state, 'ok');
      utimesSync(lock, 0, 0);
      const { state, fix } = await checkLocks(context);
      rmSync(lock);
      strictEqual(state, 'warning');
      match(fix ?? '', new RegExp(`rm ${lock}$`));
    }
  });

  it('is once that there is no clone', async () => {
    const context = doctorContext(tempFolder());
    strictEqual((await checkLocks(context)).reason, 'not checked: there is no clone');
  });
});
