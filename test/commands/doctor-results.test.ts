import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import {
  assessFileSystem,
  assessGitVersion,
  assessOpenFiles,
  assessSpace,
  assessWatches,
} from '../../src/commands/doctor.ts';
import { assessClock, assessProxy } from '../../src/commands/doctor-network.ts';
import {
  type DoctorCheck,
  toExitCode,
  failure,
  fine,
  toOutcome,
  printResults,
  runChecks,
  warning,
} from '../../src/commands/doctor-results.ts';
import { doctorContext } from '../support/doctor.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the checks of botshelf doctor', () => {
  const context = doctorContext(tempFolder());

  it('run side by side; one that throws, or takes too long, is an error and ends no other', async () => {
    const checks: Record<string, DoctorCheck> = {
      slow: async () => await new Promise(() => {}),
      broken: () => {
        throw new Error('the disk is full: make room');
      },
      system: () => {
        throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
      },
      good: () => fine('all is well'),
    };
    const results = await runChecks(checks, context, 0.1);
    deepStrictEqual(
      results.map(({ name, state, reason }) => `${name}: ${state} ${reason}`),
      [
        'slow: error it took longer than 0.1 s',
        'broken: error the disk is full',
        'system: error EACCES: permission denied',
        'good: ok all is well',
      ],
    );
    strictEqual(results[1]?.fix, 'make room');
  });

  it('end with 0, 1 for warnings, 2 for errors', () => {
    const [good, mild, bad] = [fine('a'), warning('b', 'c'), failure('d', 'e')].map((outcome, i) => ({
      name: `check ${i}`,
      ...outcome,
    }));
    if (!good || !mild || !bad) throw new Error('there are three');
    deepStrictEqual([good, mild, bad].map(toExitCode), [0, 1, 2]);
    match(printResults([good, bad]), /^ok {7}check 0 {2}a\nerror {4}check 2 {2}d\n {18}fix: e\n\n1 ok, /);
  });

  it('print what a remote or a file says as text, not as commands to a terminal', () => {
    const bad = { name: 'remote', ...failure('it says \u001b[2J', 'read\n\u009b2J') };
    match(printResults([bad]), /it says \\u001b\[2J\n +fix: read\\u000a\\u009b2J\n/);
  });

  it('take the last part of a message for what mends it', () => {
    deepStrictEqual(toOutcome('warning', 'a (b: c): do this'), warning('a (b: c)', 'do this'));
    match(toOutcome('error', 'a bug').fix ?? '', /production/);
  });
});

describe('what botshelf doctor says of a figure or a setting', () => {
  const disk = { bsize: 4096, bavail: 2 ** 22, files: 2 ** 20, ffree: 2 ** 19 };
  const proxy = { host: '127.0.0.1', baseUrl: 'https://bots.example.org', trustProxy: true };
  const direct = { host: '127.0.0.1', baseUrl: 'http://127.0.0.1:3000', trustProxy: false };
  const cases = [
    [assessGitVersion('git version 2.39.5 (Apple Git-154)'), /^ok Git 2\.39\.5$/],
    [assessGitVersion('git version 3.0.0'), /^ok /],
    [assessGitVersion('git version 2.30.2'), /^error Git 2\.30\.2 is too old .+: install Git 2\.38/],
    [assessGitVersion(''), /^error git cannot be run: apt-get install git$/],
    [assessFileSystem('/srv', 0xef53), /^ok /],
    [assessFileSystem('/srv', 0x01021994), /^warning \/srv is kept in memory only/],
    [assessFileSystem('/srv', 0x6969), /^warning \/srv is on a network or shared file system \(NFS\)/],
    [assessSpace('/srv', disk), /^ok \/srv has 16\.0 GiB free$/],
    [assessSpace('/srv', { ...disk, bavail: 2 ** 17 }), /^warning .+: make room/],
    [assessSpace('/srv', { ...disk, bavail: 100 }), /^error /],
    [assessSpace('/srv', { ...disk, ffree: 9 }), /^error \/srv has room for 9 more files only/],
    [assessSpace('/btrfs', { ...disk, files: 0, ffree: 0 }), /^ok /],
    [assessWatches(1000, 65_536, 128), /^ok /],
    [assessWatches(1000, 1500, 128), /^warning /],
    [assessWatches(1000, 900, 128), /^error .+: sysctl -w fs\.inotify\.max_user_watches=524288 /],
    [assessOpenFiles(Number.POSITIVE_INFINITY), /^ok /],
    [assessOpenFiles(192), /^warning .+: LimitNOFILE=65536 in the unit/],
    [assessClock(-1400), /^ok /],
    [assessClock(5000), /^warning it is 5 s ahead of that of the remote/],
    [assessClock(-3_600_000), /^error .+: timedatectl set-ntp true$/],
    [assessProxy(direct, []), /^ok /],
    [assessProxy(proxy, ['8.8.8.8']), /^ok /],
    [assessProxy({ ...proxy, trustProxy: false }, []), /^warning .+: BOTSHELF_TRUST_PROXY=on$/],
    [assessProxy({ ...proxy, host: '8.8.8.8' }, []), /^warning .+ any client that reaches 8\.8\.8\.8/],
    [assessProxy({ ...proxy, host: '0.0.0.0' }, ['10.0.0.1', '8.8.8.8']), /^warning .+ reaches 8\.8\.8\.8 /],
    [assessProxy({ ...proxy, host: '0.0.0.0' }, ['127.0.0.1', '10.0.0.1']), /^ok /],
    [assessProxy({ ...proxy, host: '10.0.0.1' }, []), /^ok /],
    [
      assessProxy(direct, [], 'X is off: if so, y; set it to on'),
      /^warning X is off: if so, y: set it to on$/,
    ],
  ] as const;

  it('is its state, and what to do', () => {
    for (const [{ state, reason, fix }, expected] of cases)
      match(`${state} ${reason}${fix === null ? '' : `: ${fix}`}`, expected);
  });
});
