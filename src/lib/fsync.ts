import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, ignoreMissing } from './errors.ts';

/** Makes the names in a folder survive a power loss; Git itself never does. @throws a system error */
export async function fsyncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
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
 * Makes the content of these files survive a power loss. A file that cannot be opened is left out, as it may be gone.
 * @throws a system error
 */
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
}

/** Makes a folder and those above it, so that they survive a power loss. @throws a system error */
export async function makeFolder(folder: string): Promise<void> {
  if ((await ignoreMissing(stat(folder))) !== undefined) return;
  await makeFolder(dirname(folder));
  await mkdir(folder).catch((error: unknown) => {
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
