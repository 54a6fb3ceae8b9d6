import { join } from 'node:path';
import { WritesUnavailable } from '../bot/errors.ts';
import type { TipFile } from './batch-plan.ts';
import { largestFile } from './objects.ts';
import type { Repository } from './repository.ts';
import { entriesOf, symbolicLink, type TreeEntry } from './tree.ts';
import { readIfBlob } from './work-tree.ts';

/**
 * The files at `paths` as they are in the commit `tip`, null being the empty history. Paths are from the top of
 * the repository.
 * @throws {GitExit}
 */
export async function readTipFiles(
  repository: Repository,
  tip: string | null,
  paths: readonly string[],
): Promise<Map<string, TipFile>> {
  const entries = await readTipEntries(repository, tip, paths);
  const blobs = [...entries].filter(([, { mode }]) => mode.startsWith('100') || mode === symbolicLink);
  const texts = await readBlobs(repository, blobs);
  return new Map(paths.map((path) => [path, tipFile(path, entries.get(path), texts.get(path))]));
}

/**
 * What the commit `tip` has at these paths, null being the empty history. Goes down from the top, level by level, so
 * that git opens each folder on the way once.
 * @throws {GitExit}
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
      const found = entriesOf(read[i] ?? Buffer.alloc(0), inside.paths.map(nameIn), hash);
      for (const path of inside.paths) {
        const slash = path.indexOf('/', folder.length);
        const entry = found.get(nameIn(path));
        if (entry === undefined) continue;
        if (slash === -1) entries.set(path, entry);
        else if (isFolder(entry)) mapPath(below, path.slice(0, slash + 1), entry.id).push(path);
      }
    }
    folders = below;
  }
  return entries;
}

/** Most files are in the work tree as they are at the tip, and read faster there. */
async function readBlobs(
  { objects, folder, hash }: Repository,
  blobs: readonly (readonly [path: string, entry: TreeEntry])[],
): Promise<Map<string, Buffer | undefined>> {
  const texts = new Map(blobs.map(([path, { id }]) => [path, readIfBlob(join(folder, path), id, hash)]));
  const others = blobs.filter(([path]) => texts.get(path) === undefined);
  const contents = await objects.read(others.map(([, { id }]) => id));
  for (const [i, [path]] of others.entries()) texts.set(path, contents[i]?.content);
  return texts;
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

function isFolder({ mode }: TreeEntry): boolean {
  return mode === '40000';
}

function tipFile(path: string, entry: TreeEntry | undefined, content: Buffer | undefined): TipFile {
  if (entry === undefined) return { id: null, mode: '100644', text: null, content: null };
  const { id, mode } = entry;
  if (content === undefined || mode === symbolicLink) {
    const what = mode.startsWith('100') ? tooLarge : 'is no regular file';
    return { id, mode, text: null, content: content ?? null, refusal: refuse(path, what) };
  }
  const text = content.toString();
  if (!Buffer.from(text).equals(content))
    return { id, mode, text: null, content, refusal: refuse(path, 'is not UTF-8') };
  return { id, mode, text, content };
}

const tooLarge = `has more than ${largestFile / 1024 / 1024} MiB`;

function refuse(path: string, what: string): WritesUnavailable {
  return new WritesUnavailable(`${path} ${what} in the last commit: mend it there first`);
}
