import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Log } from '../log.ts';
import { GitExit } from './git-exit.ts';
import type { Repository } from './repository.ts';
import type { Pending } from './pending.ts';
import type { Unsettled } from './unsettled.ts';

/**
 * A path that a crash has left unsettled. What its change was is gone with the process, its two texts are in
 * Git: in a text that a person has edited the change is made by a merge, and not at all where that conflicts.
 */
export function mergeEdit(repository: Repository, entry: Unsettled, log: Log): Pending {
  const { path, known, after } = entry;
  return {
    ...entry,
    commit: null,
    changes: [],
    torn: true,
    again: () => undefined,
    edit: async (current) => {
      if (after === null) return undefined;
      const bases = known.filter((id) => id !== null);
      const [then, ...texts] = await repository.objects.read([after, ...bases]);
      // The oldest text first: from a later one, what the person's lacks would look removed.
      for (const before of texts) {
        if (!then || !before) continue;
        const merged = await merge(repository, basename(path), [current, before.content, then.content]);
        if (merged) return merged;
      }
      log.warn({ path }, 'the file has edits that our change cannot be made in: they are left as they are');
      return undefined;
    },
  };
}

/** Undefined when the texts conflict. */
async function merge(
  repository: Repository,
  name: string,
  texts: readonly Buffer[],
): Promise<Buffer | undefined> {
  await mkdir(repository.staging, { recursive: true });
  const files = ['theirs', 'before', 'after'].map((side) => join(repository.staging, `${name}.${side}`));
  try {
    await Promise.all(files.map(async (file, i) => await writeFile(file, texts[i] ?? '')));
    return Buffer.from(await repository.run(['merge-file', '-p', '-q', '--', ...files]));
  } catch (error) {
    if (error instanceof GitExit) return undefined;
    throw error;
  } finally {
    await Promise.all(files.map(async (file) => await rm(file, { force: true })));
  }
}
