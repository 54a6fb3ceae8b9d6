// Stack traces name the lines of the sources, in mocha's workers too.
process.setSourceMapsEnabled(true);

/*
 * Mocha loads this file with --require and runs its hooks in every test file, also where its workers run several files,
 * each module loaded once.
 */
type Cleanup = () => unknown;

const ofTest: Cleanup[] = [];
const ofFile: Cleanup[] = [];
const checks = new Set<() => readonly string[]>();
let isTestRunning = false;

/** Runs `cleanup` after the test that runs or, when a suite's hook or an import calls this, after the file's tests. */
export function cleanUp(cleanup: Cleanup): void {
  (isTestRunning ? ofTest : ofFile).push(cleanup);
}

/** Runs `cleanup` after the file's tests. */
export function cleanUpAfterFile(cleanup: Cleanup): void {
  ofFile.push(cleanup);
}

/** Runs `check` after each test of the file, which fails with the lines that it returns. */
export function checkAfterEachTest(check: () => readonly string[]): void {
  checks.add(check);
}

export const mochaHooks = {
  beforeEach(): void {
    isTestRunning = true;
  },

  async afterEach(this: Mocha.Context): Promise<void> {
    isTestRunning = false;
    const errors = await runAll(ofTest);
    const faults = [...checks].flatMap((check) => check());
    if (faults.length > 0) errors.push(new Error(faults.join('\n')));
    // Thrown here, it would end the tests of the file.
    if (errors.length > 0) (this.test as Mocha.Hook).error(combine(errors));
  },

  async afterAll(): Promise<void> {
    const errors = await runAll(ofFile);
    checks.clear();
    if (errors.length > 0) throw combine(errors);
  },
};

/** Runs these in reverse order, so that what was started last ends first. Returns what they throw. */
async function runAll(cleanups: Cleanup[]): Promise<Error[]> {
  const errors: Error[] = [];
  for (const cleanup of cleanups.splice(0).toReversed()) {
    try {
      await cleanup();
    } catch (error) {
      errors.push(error instanceof Error ? error : new Error(String(error)));
    }
  }
  return errors;
}

function combine(errors: readonly Error[]): Error {
  const [first] = errors;
  return errors.length === 1 && first ? first : new Error(errors.map(({ message }) => message).join('\n'));
}
