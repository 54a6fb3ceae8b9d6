import { readdir, readFile, readlink } from 'node:fs/promises';
import type { Repository } from './repository.ts';

/** A git that runs on this machine. */
export interface GitProcess {
  readonly pid: number;
  readonly parent: number;
  readonly args: readonly string[];
}

/**
 * The git processes that work in this repository, whoever started them; undefined where the system does not
 * tell (no /proc).
 */
export async function gitProcessesIn(
  repository: Pick<Repository, 'folder' | 'gitDir' | 'commonDir'>,
): Promise<GitProcess[] | undefined> {
  const { folder, gitDir, commonDir } = repository;
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  if (pids.length === 0) return undefined;
  const found = await Promise.all(pids.map(async (pid) => await inspect(pid, [folder, gitDir, commonDir])));
  return found.filter((process) => process !== undefined);
}

async function inspect(pid: string, folders: readonly string[]): Promise<GitProcess | undefined> {
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
  } catch {
    return undefined;
  }
}
