import { deepStrictEqual, fail, match, ok, strictEqual } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { committerOn } from '../support/committing.ts';
import { openProposals, proposalSettings } from '../support/proposals.ts';
import type { TestRepository } from '../support/repository.ts';
import { accountId, mainPage, pagePath } from '../support/sample.ts';

/** The program of proposal-steps-child.ts. */
export const stepsChild = fileURLToPath(new URL('proposal-steps-child.js', import.meta.url));

/** The files of its catalogue. */
export const stepsFiles = { [pagePath('190519304972663312')]: mainPage(), 'botshelf.json': proposalSettings };

/** Returns the account that proposes the bot of a number. It is not the bot's id, which stands for the bot itself. */
export function accountOf(number: string): ReturnType<typeof accountId> {
  return accountId(`9${number}`);
}

/** Number → the last step that was answered. */
export type AnsweredSteps = Map<string, string>;

/** The steps of a number after it was sent: every fourth one is opened again. */
export function stepsAfterSent(number: number): string[] {
  return [['accepted'], ['declined'], ['declined', 'taken-back'], ['withdrawn']][number % 4] ?? [];
}

/** Has three people send proposals, and decide about them, until that is ended. */
export function startStepping(address: string): { readonly end: () => Promise<void> } {
  const ended = new AbortController();
  const people = [0, 1, 2].map(async (person) => {
    for (let number = 1000 * person + 10; !ended.signal.aborted; number++)
      for (const step of ['sent', ...stepsAfterSent(number)]) {
        const response = await fetch(`${address}/${step}/${number}`, { method: 'POST' });
        strictEqual(response.status, 200, `${step} ${number}: ${await response.text()}`);
      }
  });
  const end = async (): Promise<void> => {
    ended.abort();
    await Promise.all(people);
  };
  return { end };
}

/** Reads the bodies of the child's responses. */
export function readAnsweredSteps(bodies: readonly string[]): AnsweredSteps {
  const steps = bodies.map((body) => JSON.parse(body) as { number: string; what: string });
  return new Map(steps.map(({ number, what }) => [number, what]));
}

/** Every answered proposal exists, open or closed, and accepted ones are in the branch, in one commit. */
export async function checkProposals(repository: TestRepository, answered: AnsweredSteps): Promise<void> {
  const committer = committerOn(repository.folder);
  await committer.recover();
  const proposals = await openProposals(repository.folder);
  const read = repository.git(
    'for-each-ref',
    '--format=%(refname)',
    'refs/botshelf/proposals',
    'refs/botshelf/closed',
  );
  const numbers = new Set(
    read
      .split('\n')
      .filter(Boolean)
      .map((ref) => ref.split('/')[3] ?? ''),
  );
  for (const number of answered.keys()) ok(numbers.has(number), `the proposal ${number} is lost`);
  for (const number of numbers) {
    const all = proposals.list.listOf(accountOf(number));
    strictEqual(all.length, 1, `${number} is ${all.map(({ state }) => state).join(' and ')}`);
    const { state, commit, takenBack } = all[0] ?? fail();
    const last = answered.get(number) ?? 'sent';
    const [first, second] = stepsAfterSent(Number(number));
    const isTakenBack = takenBack === 1 && state === 'waiting' && second === 'taken-back';
    const isAsAnswered = isTakenBack ? last === first || last === second : state === last;
    ok(last === 'sent' || isAsAnswered, `${number} was ${last}, and is ${state}`);
    const commits = repository.git('log', '--format=%H %s', 'main', '--', pagePath(number));
    // One that was closed after a power loss, because the branch has it, does not name the commit.
    const pattern = state === 'accepted' ? new RegExp(`^${commit ?? '[0-9a-f]+'} .*$`) : /^$/;
    match(commits, pattern, `${number} is ${state}`);
  }
  await committer.close();
  strictEqual(repository.status(), '', 'git status');
  strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
  const left = readdirSync(join(repository.folder, '.git'), { recursive: true, encoding: 'utf8' });
  deepStrictEqual(
    left.filter((name) => /\.(lock|keep)$|(?:^|\/)\.?tmp[-_]|staging\/file-/.test(name)),
    [],
    'nothing is left over',
  );
}
