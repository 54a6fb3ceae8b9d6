import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import {
  assessFileSystem,
  assessGitVersion,
  assessOpenFiles,
  assessSpace,
  assessWatches,
} from '../../src/commands/doctor.ts';
import { assessClock, assessPacks, assessProxy } from '../../src/commands/doctor-network.ts';
import {
  type DoctorCheck,
  toExitCode,
  failure,
  fine,
  type Outcome,
  toOutcome,
  printResults,
  runChecks,
  warning,
} from '../../src/commands/doctor-results.ts';
import { readCases } from '../support/fixture-lines.ts';
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

/** What judges figures and settings. */
const assess = {
  clock: assessClock,
  'file system': assessFileSystem,
  Git: assessGitVersion,
  'open files': assessOpenFiles,
  packs: assessPacks,
  proxy: assessProxy,
  space: assessSpace,
  watches: assessWatches,
} as unknown as Readonly<Record<string, (...values: unknown[]) => Outcome | null>>;

describe('what botshelf doctor says of a figure or a setting', () => {
  for (const { title, input, expected } of readCases('doctor-figures'))
    it(`is its state, and what to do: ${title}`, () => {
      const [, what = '', values = ''] = /^(.*?) (\[.*)/.exec(input) ?? [];
      const { state, reason, fix } = assess[what]?.(...(JSON.parse(values) as unknown[])) ?? fine('nothing');
      deepStrictEqual([`${state} ${reason}`, ...(fix === null ? [] : [fix])], expected);
    });
});
