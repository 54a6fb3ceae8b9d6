import { checkAfterEachTest, cleanUp } from './cleanup.ts';
import type { ServiceLog } from './service-log.ts';

/**
 * A service that a test started, in this process or in one of its own. It ends with the test or, when a hook
 * started it, with the suite. A test fails when its service logged a warning or an error, or wrote anything else to
 * standard error, that the test has not said to expect.
 */
export interface RunningService {
  readonly address: string;
  /** The log so far. */
  log(): string;
  /** Expects a warning or an error that matches: it is no fault, but it is one when the service ends without it. */
  expectLog(pattern: RegExp): void;
  /** Allows a warning or an error that matches, if chance decides whether there is one, such as after a kill. */
  allowLog(pattern: RegExp): void;
}

/**
 * Ends a service with the test or the file that started it, and makes the test fail for what it should not have logged.
 * @param end ends it, if it still runs, as an operator does, and resolves with what went wrong
 */
export function superviseService(log: ServiceLog, end: () => Promise<string | undefined>): void {
  const check = (): string[] => {
    const lines = log.takeUnexpected();
    return lines.length > 0 ? [explain(lines)] : [];
  };
  const endChecks = checkAfterEachTest(check);
  cleanUp(async () => {
    const fault = await end();
    endChecks();
    const missing = log.missing().map((pattern) => `(nothing that matches ${pattern}, which was expected)`);
    const lines = [...(fault === undefined ? [] : [fault]), ...log.takeUnexpected(), ...missing];
    if (lines.length > 0) throw new Error(explain(lines));
  });
}

function explain(lines: readonly string[]): string {
  return (
    `The service logged what no test expects:\n${lines.join('\n')}\n` +
    'Fix the cause or, where the test is about it, say so with service.expectLog(/…/).'
  );
}
