import { withoutCredentials } from './credentials.ts';

/** A git command that failed or was killed. Nothing in it has the credentials of an address. */
export class GitError extends Error {
  readonly command: string;
  /** Its exit code; null when it was killed, negative when it could not even be started. */
  readonly status: number | null;
  /** What git wrote to standard error. */
  readonly stderr: string;

  constructor(args: readonly string[], status: number | null, stderr: string) {
    const command = withoutCredentials(`git ${args.join(' ')}`);
    const end = status === null ? 'was killed' : `ended with ${status}`;
    const clean = withoutCredentials(stderr);
    const said = clean.trim();
    super(`${command} ${end}${said === '' ? '' : `: ${said}`}`);
    this.name = 'GitError';
    this.command = command;
    this.status = status;
    this.stderr = clean;
  }

  /** Whether there was no git to run. */
  get notStarted(): boolean {
    return this.status !== null && this.status < 0;
  }

  /** The first line that git wrote to standard error; empty where it wrote none. */
  get reason(): string {
    return (this.stderr.split('\n', 1)[0] ?? '').replace(/^fatal: /, '');
  }
}
