import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestRepository, testRepository } from '../../support/repository.ts';
import { needs } from '../../support/tools.ts';

const source = (name: string): string =>
  JSON.stringify(new URL(`../../../src/${name}.js`, import.meta.url).href);

const recovering = `
  const { cleanUpAfterCrash } = await import(${source('git/leftovers')});
  const { openRepository } = await import(${source('git/repository')});
  const { silentLog } = await import(${source('lib/log')});
  const repository = await openRepository(process.argv[1]);
  await cleanUpAfterCrash(repository, silentLog);
  repository.objects.close();
`;

/** Clears what a crash has left, as a service that does not see the processes of this machine. */
async function recoverInContainer({ folder }: TestRepository): Promise<void> {
  const node = [process.execPath, '--input-type=module', '-e', recovering, folder];
  const child = spawn('unshare', ['-Urpf', '--mount-proc', '--kill-child', ...node], { stdio: 'inherit' });
  deepStrictEqual(await once(child, 'exit'), [0, null]);
}

needs('unshare', describe)('removing stale locks after a crash, in a container', () => {
  it('leaves the lock of a git that works outside, and removes it once no git does @long', async () => {
    const repository = testRepository({ 'a.txt': 'A' });
    const lock = join(repository.folder, '.git/refs/heads/main.lock');
    writeFileSync(lock, '');
    const working = setInterval(() => utimesSync(lock, new Date(), new Date()), 200);
    await recoverInContainer(repository).finally(() => clearInterval(working));
    strictEqual(existsSync(lock), true);
    await recoverInContainer(repository);
    strictEqual(existsSync(lock), false);
  });

  it('removes a half-written pack that is older than the start, and leaves one that a git outside writes', async () => {
    const repository = testRepository({ 'a.txt': 'A' });
    const pack = (name: string): string => join(repository.folder, '.git/objects/pack', name);
    writeFileSync(pack('tmp_pack_live'), '');
    writeFileSync(pack('tmp_pack_dead'), '');
    const later = new Date(Date.now() + 600_000);
    utimesSync(pack('tmp_pack_live'), later, later);
    await recoverInContainer(repository);
    strictEqual(existsSync(pack('tmp_pack_live')), true);
    strictEqual(existsSync(pack('tmp_pack_dead')), false);
  });
});
