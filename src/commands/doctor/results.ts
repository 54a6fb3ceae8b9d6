import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../app/config.ts';
import type { Repository, RepositoryOpener } from '../../git/repository.ts';
import { codeOf, messageOf } from '../../lib/errors.ts';

/** What a check has found. */
export interface Outcome {
  readonly state: 'ok' | 'warning' | 'error';
  /** What was found; for `ok` also why something was not checked. */
  readonly reason: string;
  /** What mends it, a command where there is one; null where nothing has to be done. */
  readonly fix: string | null;
}

/** An outcome with the name of its check. */
export interface DoctorResult extends Outcome {
  readonly name: string;
}

/** What the checks look at. */
export interface DoctorContext {
  readonly config: Config;
  readonly repositoryOpener: RepositoryOpener;
  /** Aborts what waits for another machine. */
  readonly signal: AbortSignal;
}

/** Looks at one thing, changes nothing. What it throws is its outcome: an error, with the message as the reason. */
export type DoctorCheck = (context: DoctorContext) => Outcome | Promise<Outcome>;

/** Returns a check of the clone, which is not run where there is none: the check `clone` says why. */
export function inClone(
  check: (repository: Repository, context: DoctorContext) => Outcome | Promise<Outcome>,
): DoctorCheck {
  return async (context) => {
    const repository = await context.repositoryOpener.open().catch(() => null);
    return repository === null ? fine('not checked: there is no clone') : await check(repository, context);
  };
}

export function fine(reason: string): Outcome {
  return { state: 'ok', reason, fix: null };
}

export function warning(reason: string, fix: string): Outcome {
  return { state: 'warning', reason, fix };
}

export function failure(reason: string, fix: string): Outcome {
  return { state: 'error', reason, fix };
}

/** Returns the outcome for a message such as `the disk is full: make room`, whose last part says what to do. */
export function toOutcome(state: 'warning' | 'error', message: string): Outcome {
  const colon = message.lastIndexOf(': ');
  return colon === -1
    ? { state, reason: message, fix: 'see docs/production.md' }
    : { state, reason: message.slice(0, colon), fix: message.slice(colon + 2) };
}

/**
 * Runs all checks side by side. Returns their outcomes in the order of the checks.
 * @param seconds how long a check may take; one that takes longer is an error
 */
export async function runChecks(
  checks: Readonly<Record<string, DoctorCheck>>,
  context: DoctorContext,
  seconds: number,
): Promise<readonly DoctorResult[]> {
  const run = async ([name, check]: readonly [string, DoctorCheck]): Promise<DoctorResult> => {
    const late = sleep(seconds * 1000, undefined, { ref: false }).then(() =>
      failure(
        `it took longer than ${seconds} s`,
        'look at the disk, the network and the load of this machine',
      ),
    );
    const work = async (): Promise<Outcome> => await check(context);
    const outcome = work().catch((error: unknown) =>
      codeOf(error) === undefined
        ? toOutcome('error', messageOf(error))
        : failure(
            messageOf(error),
            'let BOTSHELF_CATALOGUE and BOTSHELF_VAR name folders that this user can read',
          ),
    );
    return { name, ...(await Promise.race([outcome, late])) };
  };
  return await Promise.all(Object.entries(checks).map(run));
}

/** Returns the exit code: 0 where all is well, 1 for warnings, 2 for errors. */
export function toExitCode(results: readonly DoctorResult[]): 0 | 1 | 2 {
  if (results.some(({ state }) => state === 'error')) return 2;
  return results.some(({ state }) => state === 'warning') ? 1 : 0;
}

/** Returns the results as lines for people, with a line of totals. */
export function printResults(results: readonly DoctorResult[]): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  const indent = ' '.repeat(9 + width + 2);
  const lines = results.map(
    ({ name, state, reason, fix }) =>
      `${state.padEnd(9)}${name.padEnd(width)}  ${reason}\n${fix === null ? '' : `${indent}fix: ${fix}\n`}`,
  );
  const count = (wanted: Outcome['state']): number => results.filter(({ state }) => state === wanted).length;
  return `${lines.join('')}\n${count('ok')} ok, warnings: ${count('warning')}, errors: ${count('error')}\n`;
}
