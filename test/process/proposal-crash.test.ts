import { ok } from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as rest } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { testRepository } from '../support/repository.ts';
import { startServiceProcess } from '../support/service-process.ts';
import {
  type AnsweredSteps,
  checkProposals,
  startStepping,
  stepsChild,
  stepsFiles,
  takeStep,
} from './proposal-aftermath.ts';

/** The short form kills at instants that are spread evenly, the long one (npm run crash) at random ones. */
const rounds = Number(process.env['CRASH_ROUNDS'] ?? 2);
const isLong = process.env['CRASH_ROUNDS'] !== undefined;

/** The failpoints that matter for a step of a proposal; commit-crash.test.ts has all. */
const failpoints = [
  ['advance.before-branch', ' @long'],
  ['advance.after-branch', ''],
  ['advance.after-checkout', ' @long'],
] as const;

describe('proposals, after a crash', () => {
  for (const [name, tag] of failpoints) {
    it(`at ${name}, are as answered, and accepted ones are in the branch${tag}`, async () => {
      const repo = testRepository(stepsFiles);
      const answered: AnsweredSteps = new Map();
      const { address, process } = await startServiceProcess(repo.folder, {}, command(repo.folder));
      const gone = once(process, 'exit');
      for (const number of [1, 2, 3]) await takeStep(address, 'sent', number, answered);
      await takeStep(address, name, 0);
      ok(!(await takeStep(address, 'accepted', 1, answered)), 'it has died at the failpoint');
      await gone;
      await checkProposals(repo, answered);
    });
  }

  it(`at any time, ${rounds} times, are as answered`, async function () {
    this.timeout(60_000 + rounds * 20_000);
    const repo = testRepository(stepsFiles);
    const answered: AnsweredSteps = new Map();
    for (let round = 0; round < rounds; round++) {
      const { address, end } = await startServiceProcess(repo.folder, {}, command(repo.folder));
      const people = startStepping(address);
      await rest(isLong ? Math.random() * 1500 : 100 + (600 * round) / rounds);
      // On a busy machine no round may have come to its first answer.
      const isLast = round === rounds - 1;
      if (isLast && answered.size === 0) await eventually(() => people.answered.size > 0);
      await end('SIGKILL');
      await people.end();
      for (const [number, what] of people.answered) answered.set(number, what);
      await checkProposals(repo, answered);
    }
    ok(answered.size > 0);
  });
});

function command(folder: string): [string, ...string[]] {
  return [process.execPath, stepsChild, folder];
}
