/**
 * An error that the person at the command line can fix: wrong use, or a problem of the environment. The message is one
 * sentence with the fix; the command ends with exit code 2 and no stack trace.
 */
export class UserError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UserError';
  }
}
