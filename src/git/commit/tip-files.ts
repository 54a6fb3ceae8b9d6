import { EditConflictError, WritesUnavailableError } from '../../bot/errors.ts';
import { messageOf } from '../../lib/errors.ts';
import { maxObjectBytes } from '../objects/objects.ts';
import type { Repository } from '../repository.ts';
import { findEntries, toKind, type TreeEntry } from '../objects/tree.ts';
import type { CurrentFile } from './batch-plan.ts';
import type { Inspection } from './checkout.ts';
import type { GitFile } from '../file-change.ts';
import { unmerged } from './git-index.ts';

/**
 * Returns what a commit has at these paths. It goes down level by level, so that git opens each folder once.
 * @param tip null for the empty history
 * @throws {GitError}
 */
export async function readTipEntries(
  { trees, hash }: Repository,
  tip: string | null,
  paths: readonly string[],
): Promise<Map<string, TreeEntry>> {
  let folders = new Map<string, { id: string; paths: readonly string[] }>(
    tip === null ? [] : [['', { id: `${tip}^{tree}`, paths }]],
  );
  const entries = new Map<string, TreeEntry>();
  while (folders.size > 0) {
    const read = await trees.read([...folders.values()].map(({ id }) => id));
    const below = new Map<string, { id: string; paths: string[] }>();
    for (const [i, [folder, inside]] of [...folders].entries()) {
      const nameIn = (path: string): string => path.slice(folder.length).split('/', 1)[0] ?? '';
      const found = findEntries(read[i] ?? Buffer.alloc(0), inside.paths.map(nameIn), hash);
      for (const path of inside.paths) {
        const slash = path.indexOf('/', folder.length);
        const entry = found.get(nameIn(path));
        if (entry === undefined) continue;
        if (slash === -1) entries.set(path, entry);
        else if (toKind(entry.mode) === 'folder')
          mapPath(below, path.slice(0, slash + 1), entry.id).push(path);
      }
    }
    folders = below;
  }
  return entries;
}

/**
 * Returns the file that edits are planned on. It is refused where a person has edited it, or it cannot be edited.
 * @param failure why the file is behind the branch
 */
export function readCurrentFile(
  path: string,
  file: GitFile | null,
  { index, files }: Inspection,
  failure: string | undefined,
): CurrentFile {
  const refuse = (why: string): CurrentFile => {
    return { file, text: null, refusal: new WritesUnavailableError(why, 'unusable-page') };
  };
  const seen = files.get(path);
  if (failure !== undefined) return refuse(`${path} is behind the branch: it ${failure}`);
  if (seen === undefined || seen instanceof Error)
    return refuse(`${path} cannot be read (${seen ? messageOf(seen) : 'it was not inspected'})`);
  const before = file?.id ?? null;
  const entry = index.get(path) ?? null;
  if (entry === unmerged || entry !== before || seen.id !== before) {
    const state = entry === unmerged ? 'is in conflict in a merge' : 'has uncommitted edits';
    return { file, text: null, refusal: new EditConflictError(path, state) };
  }
  if (file === null) return { file, text: null };
  if (!file.mode.startsWith('100')) return refuse(`${path} is no regular file: replace it with one`);
  if (seen.content === undefined) return refuse(`${path} has more than ${maxObjectBytes / 1024 / 1024} MiB`);
  const text = seen.content.toString();
  if (!Buffer.from(text).equals(seen.content)) return refuse(`${path} is not UTF-8: convert it`);
  return { file, text };
}

function mapPath(
  folders: Map<string, { id: string; paths: string[] }>,
  folder: string,
  id: string,
): string[] {
  const found = folders.get(folder) ?? { id, paths: [] };
  folders.set(folder, found);
  return found.paths;
}
