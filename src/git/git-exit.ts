import { withoutCredentials } from './credentials.ts';

/** A git command that failed or was killed. Nothing in it has the credentials of an address. */
export class GitExit extends Error {
  readonly command: string;
  /** Null when a signal ended it, negative when it could not even be started. */
  readonly exitCode: number | null;
  /** What git said on standard error. */
  readonly stderr: string;

  constructor(args: readonly string[], exitCode: number | null, stderr: string) {
    const command = withoutCredentials(`git ${args.join(' ')}`);
    const end = exitCode === null ? 'was killed' : `ended with ${exitCode}`;
    const clean = withoutCredentials(stderr);
    const said = clean.trim();
    super(`${command} ${end}${said === '' ? '' : `: ${said}`}`);
    this.name = 'GitExit';
    this.command = command;
    this.exitCode = exitCode;
    this.stderr = clean;
  }

  /** Whether there was no git to run. */
  get notStarted(): boolean {
    return this.exitCode !== null && this.exitCode < 0;
  }
}
