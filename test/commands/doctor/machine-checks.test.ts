import { match, strictEqual } from 'node:assert/strict';
import { assessFileSystem, assessSpace } from '../../../src/commands/doctor/disk-checks.ts';
import { openFilesOutcome, watchOutcome } from '../../../src/commands/doctor/limit-checks.ts';
import { assessClock } from '../../../src/commands/doctor/remote-checks.ts';

describe('what botshelf doctor says of the machine', () => {
  it('is whether a disk keeps what was synced', () => {
    strictEqual(assessFileSystem('/srv', 0xef53).state, 'ok');
    match(assessFileSystem('/srv', 0x01021994).reason, /in memory only/);
    match(assessFileSystem('/srv', 0x6969).reason, /network or shared file system \(NFS\)/);
  });

  it('is how much room there is', () => {
    const disk = { bsize: 4096, bavail: 2 ** 22, files: 2 ** 20, ffree: 2 ** 19 };
    strictEqual(assessSpace('/srv', disk).reason, '/srv has 16.0 GiB free');
    strictEqual(assessSpace('/srv', { ...disk, bavail: 2 ** 17 }).state, 'warning');
    strictEqual(assessSpace('/srv', { ...disk, bavail: 100 }).state, 'error');
    match(assessSpace('/srv', { ...disk, ffree: 9 }).reason, /room for 9 more files only/);
    strictEqual(assessSpace('/btrfs', { ...disk, files: 0, ffree: 0 }).state, 'ok');
  });

  it('is whether the kernel lets it watch every folder, with the command that raises the limit', () => {
    strictEqual(watchOutcome(1000, 65_536, 128).state, 'ok');
    strictEqual(watchOutcome(1000, 1500, 128).state, 'warning');
    const { state, fix } = watchOutcome(1000, 900, 128);
    strictEqual(state, 'error');
    match(fix ?? '', /^sysctl -w fs\.inotify\.max_user_watches=524288 /);
  });

  it('is whether there are descriptors for its connections', () => {
    strictEqual(openFilesOutcome(Number.POSITIVE_INFINITY).state, 'ok');
    strictEqual(openFilesOutcome(192).state, 'warning');
  });

  it('is how far the clock is off', () => {
    strictEqual(assessClock(-1400).state, 'ok');
    match(assessClock(5000).reason, /5 s ahead of that of the remote/);
    strictEqual(assessClock(-3_600_000).state, 'error');
    strictEqual(assessClock(-3_600_000).fix, 'timedatectl set-ntp true');
  });
});
