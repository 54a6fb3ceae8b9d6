import { match } from 'node:assert/strict';
import { checkChanges } from '../../src/check/check-changes.ts';
import type { Finding } from '../../src/check/check.ts';
import { printReport } from '../../src/commands/check-report.ts';
import { resolveRange } from '../../src/git/revision-range.ts';
import { botshelf, type Run } from './command-line.ts';
import { type TestRepository, testRepository } from './repository.ts';
import { mainPage, pagePath, translation } from './sample.ts';

/** The bots of `catalogueOfTwo`. */
export const homer = '190519304972663312';
export const lenny = '190519304972663313';

/** Put together here, so that no file of the project holds what looks like a token. */
export const token = ['bsh', 'a'.repeat(43) + 'B0c1D2'].join('_');

/** A catalogue of two bots whose working tree stays on main while others make pull requests on a branch. */
export function catalogueOfTwo(): TestRepository {
  return testRepository({
    [pagePath(homer)]: mainPage({ invite: 'https://discord.com/oauth2/authorize?client_id=77&scope=bot' }),
    [pagePath(homer, 'fr')]: translation('Homère', 'Répond.'),
    [pagePath(lenny)]: mainPage({ name: 'Lenny', invite: 'https://example.org/lenny' }),
  });
}

/** Makes a pull request on the branch `pull`: what `work` leaves, unless it commits itself. Main is checked out again. */
export function pullRequest(repo: TestRepository, work: () => void): void {
  repo.git('switch', '-q', '-c', 'pull');
  const before = repo.git('rev-parse', 'HEAD');
  work();
  if (repo.git('rev-parse', 'HEAD') === before) repo.commit({}, 'Change');
  repo.git('switch', '-q', '-f', 'main');
}

export interface Checked {
  /** Whether the check passes. */
  readonly passes: boolean;
  /** `path rule severity` of each finding. */
  readonly found: string[];
  readonly messages: string[];
}

/** Checks the pull request as `botshelf check --base=main --head=pull` does, without starting a process. */
export async function check({ folder }: TestRepository): Promise<Checked> {
  const range = await resolveRange(folder, 'main', 'pull');
  const report = printReport(await checkChanges(folder, range, 'everything'), 'json');
  const { faults } = JSON.parse(report) as { faults: readonly Finding[] };
  for (const { message } of faults) match(message, saysWhatToDo);
  return {
    passes: faults.every(({ severity }) => severity !== 'error'),
    found: faults.map(({ path, rule, severity }) => `${path} ${rule} ${severity}`),
    messages: faults.map(({ message }) => message),
  };
}

/** What is wrong, a colon, and the fix. */
export const saysWhatToDo = /^\S[^]*: \S/;

/** Runs `botshelf check` of the pull request, in the repository or a folder of it. */
export async function runCheck({ folder }: Pick<TestRepository, 'folder'>, ...args: string[]): Promise<Run> {
  return await botshelf(folder, ['check', '--base=main', '--head=pull', ...args]);
}

/** Checks a pull request of what `work` does in a catalogue of two bots. */
export async function checkChange(work: (repo: TestRepository) => void): Promise<Checked> {
  const repo = catalogueOfTwo();
  pullRequest(repo, () => work(repo));
  return await check(repo);
}
