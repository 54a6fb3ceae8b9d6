import { withoutCredentials } from './credentials.ts';

/** What to do where git could not be started. */
export const noGit = 'git cannot be run: install it, or put it on the PATH of the service';

/** A git command failed or was killed. User names and passwords of addresses are removed. */
export class GitError extends Error {
  readonly command: string;
  /** The exit code; null when git was killed, negative when it could not be started. */
  readonly status: number | null;
  /** The standard error of git. */
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

  /** Whether git could not be started. */
  get notStarted(): boolean {
    return this.status !== null && this.status < 0;
  }

  /** The first line that git wrote to standard error; empty where it wrote none. */
  get reason(): string {
    return (this.stderr.split('\n', 1)[0] ?? '').replace(/^fatal: /, '');
  }
}
