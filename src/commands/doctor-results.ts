import { setTimeout as sleep } from 'node:timers/promises';
import type { ExaminedConfig } from '../app/config.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { codeOf, messageOf } from '../lib/errors.ts';
import { colour, escapeInvisible } from './output.ts';

/** The result of a check. */
export interface Outcome {
  readonly state: (typeof states)[number];
  /** The finding; for `ok` also the reason why something was not checked. */
  readonly reason: string;
  /** The fix, as a command if possible; null if nothing has to be done. */
  readonly fix: string | null;
}

/** An outcome with the name of its check. */
export interface DoctorResult extends Outcome {
  readonly name: string;
}

/** The input of the checks. */
export interface DoctorContext extends ExaminedConfig {
  readonly repositoryOpener: RepositoryOpener;
  /** Aborts requests to other machines. */
  readonly signal: AbortSignal;
}

/** Checks one thing and changes nothing. If it throws, its outcome is an error with the message as the reason. */
export type DoctorCheck = (context: DoctorContext) => Outcome | Promise<Outcome>;

/** Returns a check of the clone, which is skipped without one: the check `clone` reports that. */
export function inClone(
  check: (repository: Repository, context: DoctorContext) => Promise<Outcome>,
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
  const [, reason = message, fix = 'see docs/production.md'] = /^(.*): (.*)$/s.exec(message) ?? [];
  return { state, reason, fix };
}

/**
 * Runs all checks concurrently. Returns their outcomes in the order of the checks.
 * @param seconds how long a check may take; one that takes longer is an error
 */
export async function runChecks(
  checks: Readonly<Record<string, DoctorCheck>>,
  context: DoctorContext,
  seconds: number,
): Promise<readonly DoctorResult[]> {
  const run = async (check: DoctorCheck): Promise<Outcome> => {
    try {
      return await check(context);
    } catch (error) {
      return codeOf(error) === undefined
        ? toOutcome('error', messageOf(error))
        : failure(messageOf(error), readable);
    }
  };
  const late = failure(
    `it took longer than ${seconds} s`,
    'look at the disk, the network and the load of this machine',
  );
  return await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({
      name,
      ...(await Promise.race([run(check), sleep(seconds * 1000, late, { ref: false })])),
    })),
  );
}

const readable = 'let BOTSHELF_CATALOGUE and BOTSHELF_VAR name folders that this user can read';

/** The states of an outcome. The index of the worst one is the exit code. */
const states = ['ok', 'warning', 'error'] as const;

/** Returns the exit code of a command with this as its worst outcome: 1 for a warning, 2 for an error. */
export function toExitCode({ state }: Outcome): number {
  return states.indexOf(state);
}

/**
 * Returns the results as lines for people, with a line of totals.
 * @param stream where the lines are written; without it they have no colours
 */
export function printResults(results: readonly DoctorResult[], stream?: NodeJS.WritableStream): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  const lines = results.flatMap(({ name, state, reason, fix }) => [
    `${colour(state, state.padEnd(9), stream)}${name.padEnd(width)}  ${escapeInvisible(reason)}`,
    ...(fix === null ? [] : [`${' '.repeat(width + 11)}fix: ${escapeInvisible(fix)}`]),
  ]);
  const [ok, warnings, errors] = states.map(
    (wanted) => results.filter(({ state }) => state === wanted).length,
  );
  const totals = `${ok} ok, warnings: ${warnings}, errors: ${errors}`;
  return [...lines, '', totals, ''].join('\n');
}
