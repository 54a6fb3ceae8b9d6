import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../system-error.ts';

/** Makes the names in these folders survive a power loss; Git itself never does. */
export async function fsyncFolders(folders: Iterable<string>): Promise<void> {
  for (const folder of new Set(folders)) await fsyncFolder(folder);
}

/** The folders from `path`'s own up to, and with, `top`: those in which a name may be new. */
export function foldersUpTo(top: string, path: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder.startsWith(top); folder = dirname(folder)) folders.push(folder);
  return folders;
}

/**
 * Writes a small file that is either there as a whole, or not at all, whenever the power goes.
 * @throws a system error
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(temporary, text, { flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await fsyncFolder(dirname(path));
}

/** Makes the texts of these files, and their names, survive a power loss; files that are gone need not. */
export async function fsyncFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const file = await open(path, 'r').catch(() => undefined);
    if (file === undefined) continue;
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
  await fsyncFolders(paths.map((path) => dirname(path)));
}

async function fsyncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  if (handle === undefined) return;
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
