/** The log of a service, and the lines that a test expects. */
export class ServiceLog {
  #text = '';
  readonly #allowed: RegExp[] = [];
  readonly #expected: RegExp[] = [];
  readonly #reported = new Set<string>();

  add(line: string): void {
    this.#text += `${line}\n`;
  }

  get text(): string {
    return this.#text.trimEnd();
  }

  /** A warning or an error that matches may be logged. */
  allow(pattern: RegExp): void {
    this.#allowed.push(pattern);
  }

  /** A warning or an error that matches must be logged. */
  expect(pattern: RegExp): void {
    this.#expected.push(pattern);
  }

  /** The warnings, the errors and the lines of no log that no test has said to expect; each is returned once. */
  takeUnexpected(): string[] {
    const patterns = [...this.#allowed, ...this.#expected];
    const unexpected = this.#complaints().filter(
      (line) => !this.#reported.has(line) && !patterns.some((pattern) => pattern.test(line)),
    );
    for (const line of unexpected) this.#reported.add(line);
    return unexpected;
  }

  /** The expected lines that have not been logged. */
  missing(): RegExp[] {
    const complaints = this.#complaints();
    return this.#expected.filter((pattern) => !complaints.some((line) => pattern.test(line)));
  }

  #complaints(): string[] {
    return this.#text.split('\n').filter((line) => line !== '' && isComplaint(line));
  }
}

/** The message of a service whose killed predecessor had a lock at that instant. */
export const clearedLock = /removed the stale (?:index )?lock of a killed (?:git|service)/;

/** Whether a line is a warning, an error, or no line of the log at all, such as one of a stack trace. */
function isComplaint(line: string): boolean {
  try {
    return (JSON.parse(line) as { level: number }).level >= 40;
  } catch {
    return true;
  }
}
