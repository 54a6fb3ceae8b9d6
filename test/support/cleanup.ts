// Stack traces name the lines of the sources, in mocha's workers too.
process.setSourceMapsEnabled(true);

/*
 * Mocha loads this file with --require. A mocha runs several files, whose hooks at the top are shared: what a suite at the
 * top of a file has started ends with it, so that no service runs beside the tests of other files.
 */
type Cleanup = () => unknown;

const ofTest: Cleanup[] = [];
const ofSuite: Cleanup[] = [];
const ofRun: Cleanup[] = [];
const checks = new Set<() => readonly string[]>();
let isTestRunning = false;
let isLoading = true;

/**
 * Runs `cleanup` after the test that runs or, when a hook calls this, after the suite at the top of the file; when an
 * import calls it, after all files.
 */
export function cleanUp(cleanup: Cleanup): void {
  if (isLoading) ofRun.push(cleanup);
  else (isTestRunning ? ofTest : ofSuite).push(cleanup);
}

/** Runs `cleanup` after the tests of all files. */
export function cleanUpAtEnd(cleanup: Cleanup): void {
  ofRun.push(cleanup);
}

/** Runs `check` after each test, which fails with the lines that it returns. Returns what ends that. */
export function checkAfterEachTest(check: () => readonly string[]): () => void {
  checks.add(check);
  return () => void checks.delete(check);
}

export const mochaHooks = {
  beforeAll(this: Mocha.Context): void {
    isLoading = false;
    for (const suite of this.test?.parent?.suites ?? []) suite.afterAll(async () => await endAll(ofSuite));
  },

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
    await endAll(ofRun);
  },
};

async function endAll(cleanups: Cleanup[]): Promise<void> {
  const errors = await runAll(cleanups);
  if (errors.length > 0) throw combine(errors);
}

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
