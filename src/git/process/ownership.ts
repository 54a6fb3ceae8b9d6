import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

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
  return `${path} belongs to ${theirs}, and this runs as ${ours}: run it as ${theirs}, or change the owner of the folder (chown -R ${uid} ${path})`;
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
