/** Returns the code of a system error, such as ENOENT; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Returns what `work` resolves with; undefined where there is no such file or folder. @throws any other error */
export async function ignoreMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return await work.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/** Returns the message of an error; of any other value, its JSON. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}

/** An error whose message says all: the log has no stack trace of it. */
export class ExplainedError extends Error {}

/**
 * An error that the person at the command line can fix: wrong use, or a problem of the environment. The message is one
 * sentence with the fix; the command ends with exit code 2 and no stack trace.
 */
export class UserError extends ExplainedError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UserError';
  }
}
