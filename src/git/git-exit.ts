/** A git command that failed or was killed. */
export class GitExit extends Error {
  readonly command: string;
  /** Null when a signal ended it, negative when it could not even be started. */
  readonly exitCode: number | null;
  /** What git said on standard error. */
  readonly stderr: string;

  constructor(args: readonly string[], exitCode: number | null, stderr: string) {
    const command = `git ${args.join(' ')}`;
    const end = exitCode === null ? 'was killed' : `ended with ${exitCode}`;
    const said = stderr.trim();
    super(`${command} ${end}${said === '' ? '' : `: ${said}`}`);
    this.name = 'GitExit';
    this.command = command;
    this.exitCode = exitCode;
    this.stderr = stderr;
  }

  /** Whether there was no git to run. */
  get notStarted(): boolean {
    return this.exitCode !== null && this.exitCode < 0;
  }
}
