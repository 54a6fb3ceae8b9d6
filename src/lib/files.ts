import { constants, type Dirent } from 'node:fs';
import { copyFile, mkdir, open, stat, type FileHandle, readdir, rename, rm, utimes } from 'node:fs/promises';
import { dirname, basename, join } from 'node:path';
import { codeOf, ignoreMissing } from './errors.ts';

/** Makes the names in a folder survive a power loss; Git itself never does. @throws a system error */
export async function fsyncFolder(folder: string): Promise<void> {
  await syncAndClose(await open(folder, 'r'));
}

async function syncAndClose(handle: FileHandle): Promise<void> {
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the names in these folders survive a power loss. A folder that is gone needs nothing. @throws a system error */
export async function fsyncFolders(folders: Iterable<string>): Promise<void> {
  for (const folder of new Set(folders)) {
    await fsyncFolder(folder).catch((error: unknown) => {
      if (!['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) throw error;
    });
  }
}

/**
 * Makes the content of these files survive a power loss. A file that cannot be opened is left out, because it may be gone.
 * @throws a system error
 */
export async function fsyncFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const file = await open(path, 'r').catch(() => undefined);
    if (file) await syncAndClose(file);
  }
}

/** Makes a folder, with all that is in it, survive a power loss; not its own name. @throws a system error */
export async function fsyncTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const listPaths = (isListed: (entry: Dirent) => boolean): string[] =>
    entries.filter(isListed).map(({ parentPath, name }) => join(parentPath, name));
  await fsyncFiles(listPaths((entry) => entry.isFile()));
  await fsyncFolders([...listPaths((entry) => entry.isDirectory()), folder]);
}

/**
 * Makes a folder and those above it, so that they survive a power loss.
 * @param mode the permission bits of new folders; those that the umask leaves by default
 * @throws a system error
 */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  if ((await ignoreMissing(stat(folder))) !== undefined) return;
  await makeFolder(dirname(folder), mode);
  await mkdir(folder, { mode }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  await fsyncFolder(dirname(folder));
}

/** Returns the folders from that of `path` up to `top`, both included: those in which a name may be new. */
export function listFoldersUpTo(top: string, path: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder.startsWith(top); folder = dirname(folder)) folders.push(folder);
  return folders;
}

interface AtomicWriteOptions {
  /** The parts that survive a power loss: none (enough for a cache), the content, or content and name of the file. */
  readonly fsync: 'none' | 'content' | 'content and name';
  /** The permission bits; those that the umask leaves by default. */
  readonly mode?: number;
}

/**
 * Writes a file, and the folders above it: a reader sees the file that was there before or the whole new one. When it
 * rejects, nothing has changed.
 * @param content what to write, or a function that writes it
 * @throws a system error
 */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array | ((file: FileHandle) => Promise<void>),
  { fsync, mode }: AtomicWriteOptions,
): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${process.pid}.${++writes}.tmp`);
  await mkdir(folder, { recursive: true });
  // An earlier process with this id may have crashed.
  await rm(temporary, { force: true });
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      // The umask may have taken bits away.
      if (mode !== undefined) await file.chmod(mode);
      if (typeof content === 'function') await content(file);
      else await file.writeFile(content);
      if (fsync !== 'none') await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    if (error instanceof Error) error.message = error.message.replaceAll(temporary, path);
    throw error;
  }
  if (fsync === 'content and name') await fsyncFolder(folder);
}

/**
 * Copies a file, if there is one, and returns its size. The copy is a little older: Git compares the contents only of
 * files that are as old as its index, or newer.
 */
export async function copyWithTime(path: string, copy: string): Promise<number> {
  const found = await ignoreMissing(stat(path));
  if (found === undefined) return 0;
  await copyFile(path, copy, constants.COPYFILE_FICLONE);
  const before = Math.floor(found.mtimeMs - 1) / 1000;
  await utimes(copy, before, before);
  return found.size;
}

/** Removes from a folder the files of atomic writes that a crash ended, as far as it can. No process may write there. */
export async function removeUnfinishedWrites(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names)
    if (unfinished.test(name)) await rm(join(folder, name), { force: true }).catch(() => {});
}

/** The name of a temporary file. */
const unfinished = /^\..+\.\d+\.\d+\.tmp$/;

/** Numbers temporary files: the same file may be written twice at a time. */
let writes = 0;
