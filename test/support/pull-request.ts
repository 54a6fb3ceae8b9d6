import { match, strictEqual } from 'node:assert/strict';
import type { Finding } from '../../src/check/check.ts';
import { printReport } from '../../src/commands/check.ts';
import { botshelf } from './command-line.ts';
import {
  type Changes,
  fastImport,
  formatCommit,
  type QuickCommit,
  type TestRepository,
  testRepository,
} from './repository.ts';
import { mainPage, pagePath, translation } from './sample.ts';
import { tempFolder } from './temp-folder.ts';

/** The bots of `catalogueOfTwo`. */
export const homer = '190519304972663312';
export const lenny = '190519304972663313';

/** Put together here, so that no file of the project holds what looks like a token. */
export const token = ['bsh', 'a'.repeat(43) + 'B0c1D2'].join('_');

/** A catalogue of two bots, with `more` files, whose working tree stays on main while others make pull requests. */
export function catalogueOfTwo(
  more: Readonly<Record<string, string | Buffer>> = {},
  folder?: string,
): TestRepository {
  const bots = {
    [pagePath(homer)]: homers(),
    [pagePath(homer, 'fr')]: translation('Homère', 'Répond.'),
    [pagePath(lenny)]: lennys(),
  };
  return testRepository({ ...bots, ...more }, folder);
}

/** The main page of the first bot, with `keys` put over it. */
export function homers(keys: Readonly<Record<string, unknown>> = {}, page?: string): string {
  return mainPage({ invite: 'https://discord.com/oauth2/authorize?client_id=77&scope=bot', ...keys }, page);
}

/** The main page of the second bot, with `keys` put over it. */
export function lennys(keys: Readonly<Record<string, unknown>> = {}, page?: string): string {
  return mainPage({ name: 'Lenny', invite: 'https://example.org/lenny', ...keys }, page);
}

/** A commit to a branch. */
export interface BranchCommit extends Pick<QuickCommit, 'at' | 'message' | 'committer'> {
  readonly changes?: Changes;
  /** `pull`, unless another is named. */
  readonly branch?: string;
  /** The branch that it starts from if it is the first commit of its own: `main`, unless another is named. */
  readonly from?: string;
  /** A branch that it merges, of which nothing is taken but what `changes` has. */
  readonly merged?: string;
}

/** Makes these commits, in one process and without the working tree. Restarts an existing branch. */
export function commitTo(repo: TestRepository, ...commits: readonly BranchCommit[]): void {
  const begun = new Set<string>();
  const input = commits.map(({ changes = {}, branch = 'pull', from = 'main', merged, ...more }) => {
    const parent = begun.has(branch) ? null : `refs/heads/${from}${from === branch ? '^0' : ''}`;
    begun.add(branch);
    const commit = { at: 1_700_000_000, ...more, files: changes, merged: merged && `refs/heads/${merged}` };
    return formatCommit(`refs/heads/${branch}`, commit, parent);
  });
  fastImport(repo.folder, input.join(''));
}

/** Makes a pull request, the branch `pull`, of a commit for each of `changes`. */
export function pullRequest(repo: TestRepository, ...changes: readonly Changes[]): void {
  commitTo(repo, ...changes.map((each) => ({ changes: each })));
}

export interface Checked {
  /** Whether the check passes. */
  readonly passes: boolean;
  /** How many files were checked. */
  readonly files: number;
  /** `path rule severity` of each finding. */
  readonly found: string[];
  readonly messages: string[];
  /** The output of the command, unless another format is chosen. */
  readonly text: string;
}

/** Checks the pull request, or another branch. */
export async function check({ folder }: Pick<TestRepository, 'folder'>, head = 'pull'): Promise<Checked> {
  return await runCheck(folder, `--head=${head}`);
}

/** Checks the working tree, or these paths of it. */
export async function checkWorkTree(folder: string, ...paths: string[]): Promise<Checked> {
  return await runCheck(folder, ...paths);
}

/** Runs the command, because the git of a check starts faster from its small process. */
async function runCheck(folder: string, ...args: string[]): Promise<Checked> {
  const { code, stdout, stderr } = await botshelf(folder, ['check', '--base=main', '--format=json', ...args]);
  if (stdout === '') throw new Error(stderr);
  const { files, faults } = JSON.parse(stdout) as { files: number; faults: readonly Finding[] };
  for (const { message } of faults) match(message, saysWhatToDo);
  const passes = faults.every(({ severity }) => severity !== 'error');
  strictEqual(code, passes ? 0 : 1);
  return {
    passes,
    files,
    found: faults.map(({ path, rule, severity }) => `${path} ${rule} ${severity}`),
    messages: faults.map(({ message }) => message),
    text: printReport({ files, findings: faults }, 'text'),
  };
}

/** The problem, a colon, and the fix. */
export const saysWhatToDo = /^\S[^]*: \S/;

/** Checks a pull request of these changes in a catalogue of two bots. */
export async function checkChange(...changes: readonly Changes[]): Promise<Checked> {
  unchanged ??= catalogueOfTwo({}, tempFolder());
  pullRequest(unchanged, ...changes);
  return await check(unchanged);
}

/** For pull requests that find it as it was. */
let unchanged: TestRepository | undefined;
