import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ExplainedError } from '../../lib/errors.ts';

/** What to do where git could not be started. */
export const noGit = 'git cannot be run: install it, or put it on the PATH of the service';

/** A git command failed or was killed. User names and passwords of addresses are removed. */
export class GitError extends ExplainedError {
  readonly command: string;
  /** The exit code; null when git was killed, negative when it could not be started. */
  readonly status: number | null;
  /** The standard error of git. */
  readonly stderr: string;

  constructor(args: readonly string[], status: number | null, stderr: string) {
    const command = removeCredentials(`git ${args.join(' ')}`);
    const end = status === null ? 'was killed' : `ended with ${status}`;
    const clean = removeCredentials(stderr);
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

/**
 * Returns a text without the user names and passwords of the addresses in it. Git repeats the address of a remote in
 * its errors, and a command has it among its arguments. Addresses that are percent-encoded as a whole are covered, and
 * passwords with characters that should be encoded: too much is removed rather than too little.
 */
export function removeCredentials(text: string): string {
  return text
    .replace(/:\/\/[^\s/]*@/g, '://')
    .replace(passwordWithSlash, '://')
    .replace(/%3A%2F%2F[^\s/]*%40/gi, '%3A%2F%2F');
}

/** An address in which no port follows the first colon. */
const passwordWithSlash = /:\/\/[^\s/:[\]]*:(?!\d{0,5}(?:[/?#'"]|\s|$))[^\s]*@/g;

/**
 * Returns why git refuses a repository that belongs to another user, and what to do about it; undefined when git failed
 * for another reason.
 * @param stderr the standard error of git
 */
export function findOwnershipProblem(stderr: string): string | undefined {
  const [, path] = /dubious ownership in repository at '(.+)'/.exec(stderr) ?? [];
  if (path === undefined) return undefined;
  const uid = process.geteuid?.() ?? 0;
  const owners = [path, join(path, '.git')].map((file) => statSync(file, { throwIfNoEntry: false })?.uid);
  const owner = owners.find((other) => other !== undefined && other !== uid) ?? uid;
  const [theirs, ours] = [formatUser(owner), formatUser(uid)];
  // Whoever runs it as root by mistake would lock out the right user.
  const other = uid === 0 ? '' : `, or change the owner of the folder (chown -R ${uid} ${path})`;
  return `${path} belongs to ${theirs}, and this runs as ${ours}: run it as ${theirs}${other}`;
}

/** Returns a user such as `alice (uid 1000)`. */
function formatUser(uid: number): string {
  const user = readPasswd()
    .map((line) => line.split(':'))
    .find(([, , number]) => number === String(uid));
  return user?.[0] ? `${user[0]} (uid ${uid})` : `uid ${uid}`;
}

function readPasswd(): string[] {
  try {
    return readFileSync('/etc/passwd', 'utf8').split('\n');
  } catch {
    return [];
  }
}
