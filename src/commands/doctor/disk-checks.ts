import { existsSync, statSync } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import { type DoctorCheck, failure, fine, type Outcome, toOutcome, warning } from './results.ts';

/** What is written stays: the disks of the clone and of `var/` sync, and tell names by their capitals. */
export const checkFileSystem: DoctorCheck = async ({ config, repositoryOpener }) => {
  const repository = await repositoryOpener.open().catch(() => undefined);
  const clone = repository?.gitDir ?? config.catalogue;
  const found: string[] = [];
  for (const path of [clone, findExistingFolder(config.var)]) {
    const { type } = await statfs(path);
    const outcome = assessFileSystem(path, type);
    if (outcome.state !== 'ok') return outcome;
    const started = performance.now();
    try {
      await syncFolder(path);
    } catch (error) {
      return failure(`${path} cannot be synced (${messageOf(error)})`, 'put it on a local disk');
    }
    found.push(`${outcome.reason}, synced in ${(performance.now() - started).toFixed(1)} ms`);
  }
  if (repository && ignoresCase(repository.gitDir))
    return warning(
      `${repository.folder} is on a file system that does not tell capitals from small letters`,
      'put the clone on one that does (ext4, xfs, btrfs), or two pages may become one file',
    );
  return fine(found.join('; '));
};

/** @param type the kind of the file system, as statfs has it */
export function assessFileSystem(path: string, type: number): Outcome {
  const kind = kinds.get(type);
  if (kind === undefined) return fine(path);
  if (kind === 'memory')
    return warning(
      `${path} is kept in memory only, and lost at a restart of the machine`,
      'put it on a disk',
    );
  return warning(
    `${path} is on a network or shared file system (${kind}), which may lose what was synced and has no locks between machines`,
    'put it on a local disk (ext4, xfs, btrfs)',
  );
}

/** Numbers of Linux, from statfs(2). */
const kinds: ReadonlyMap<number, string> = new Map([
  [0x01_02_19_94, 'memory'],
  [0x85_84_58_f6, 'memory'],
  [0x69_69, 'NFS'],
  [0xff_53_4d_42, 'CIFS'],
  [0xfe_53_4d_42, 'SMB'],
  [0x65_73_55_46, 'FUSE'],
  [0x01_02_19_97, '9P'],
]);

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether `HEAD` is found by another name. */
function ignoresCase(gitDir: string): boolean {
  const other = statSync(join(gitDir, 'hEaD'), { throwIfNoEntry: false });
  return other !== undefined && other.ino === statSync(join(gitDir, 'HEAD')).ino;
}

/** Returns the folder, or the nearest one above it that exists. */
function findExistingFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : findExistingFolder(dirname(folder));
}

/** There is room for commits, the journal and pictures. */
export const checkSpace: DoctorCheck = async ({ config }) => {
  const places = [config.catalogue, findExistingFolder(config.var)];
  const outcomes = await Promise.all(places.map(async (path) => assessSpace(path, await statfs(path))));
  return (
    outcomes.find(({ state }) => state === 'error') ??
    outcomes.find(({ state }) => state === 'warning') ??
    outcomes[0] ??
    toOutcome('error', 'no disk was found')
  );
};

/** @param disk as statfs returns it */
export function assessSpace(
  path: string,
  disk: Readonly<Record<'bavail' | 'bsize' | 'files' | 'ffree', number>>,
): Outcome {
  const free = disk.bavail * disk.bsize;
  const room = `${path} has ${(free / 2 ** 30).toFixed(1)} GiB free`;
  const fix = 'make room, or move the clone or BOTSHELF_VAR to a larger disk';
  if (free < minFreeBytes) return failure(room, fix);
  if (disk.files > 0 && disk.ffree < minFreeFiles)
    return failure(`${path} has room for ${disk.ffree} more files only`, fix);
  return free < 10 * minFreeBytes ? warning(room, fix) : fine(room);
}

const minFreeBytes = 100 * 2 ** 20;
const minFreeFiles = 10_000;
