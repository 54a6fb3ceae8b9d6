import { readdir, readFile, readlink } from 'node:fs/promises';
import { codeOf } from '../lib/errors.ts';
import type { Repository } from './repository.ts';

/** A git process on this machine. */
export interface GitProcess {
  readonly pid: number;
  readonly parent: number;
  readonly args: readonly string[];
}

/** The git processes that run in a repository. */
export interface GitProcesses {
  readonly seen: readonly GitProcess[];
  /**
   * Whether there may be others that cannot be seen: in another container, of another user, or all of them where there
   * is no /proc.
   */
  readonly othersHidden: boolean;
}

/** Returns the git processes whose working folder is in the repository, of this service or not. */
export async function findGitProcesses(
  repository: Pick<Repository, 'folder' | 'gitDir' | 'commonDir'>,
): Promise<GitProcesses> {
  const { folder, gitDir, commonDir } = repository;
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => await inspectProcess(pid, [folder, gitDir, commonDir])),
  );
  return {
    seen: found.filter((process) => typeof process === 'object'),
    othersHidden: found.includes('hidden') || !(await showsAllProcesses()),
  };
}

/** Returns the git command that a process runs, such as fetch. */
export function parseCommand({ args }: GitProcess): string {
  const [, own] = /(?:^|\/)git-([a-z-]+)$/.exec(args[0] ?? '') ?? [];
  if (own !== undefined) return own;
  let i = 1;
  while (args[i]?.startsWith('-')) i += args[i] === '-c' || args[i] === '-C' ? 2 : 1;
  return args[i] ?? '';
}

/** Returns whether /proc has the processes of every user and every container. */
async function showsAllProcesses(): Promise<boolean> {
  try {
    const namespace = await readlink('/proc/self/ns/pid');
    const mounts = await readFile('/proc/self/mounts', 'utf8');
    return namespace === firstNamespace && !/^\S+ \/proc .*\bhidepid=(?!0|off)/m.test(mounts);
  } catch {
    return false;
  }
}

/** The number of the process namespace that Linux starts with. */
const firstNamespace = 'pid:[4026531836]';

async function inspectProcess(
  pid: string,
  folders: readonly string[],
): Promise<GitProcess | 'hidden' | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const name = stat.slice(stat.indexOf('(') + 1, end);
    const [state, parent] = stat.slice(end + 2).split(' ');
    if (!name.startsWith('git') || state === 'Z' || state === 'X') return undefined;
    const cwd = await readlink(`/proc/${pid}/cwd`);
    if (!folders.some((folder) => cwd === folder || cwd.startsWith(`${folder}/`))) return undefined;
    const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
    return { pid: Number(pid), parent: Number(parent), args };
  } catch (error) {
    return codeOf(error) === 'EACCES' ? 'hidden' : undefined;
  }
}
