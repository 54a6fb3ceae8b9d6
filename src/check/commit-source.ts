import { toKind, parseTree } from '../git/objects/tree.ts';
import { ObjectReader } from '../git/objects/object-reader.ts';
import { type ListedEntry, listTrees } from '../git/tree-listing.ts';
import { createFileFault } from '../catalogue/page/fault.ts';
import {
  botsFolder,
  folderOf,
  gitkeep,
  isFolderName,
  type PagePlace,
  parsePagePath,
  pathOf,
} from '../catalogue/page/layout.ts';
import { maxFileSize, createSizeFault } from '../catalogue/page/page.ts';
import {
  maxReadSize,
  notAFile,
  type PageFile,
  parsePageFile,
  createRefusedPageFile,
} from '../catalogue/page/page-file.ts';
import type { FileReading } from '../catalogue/settings/read-settings.ts';
import { listNamesInScope, type Scope } from './scope.ts';
import { type CatalogueSource, sideFolders } from './source.ts';

/**
 * Opens the part `scope` of the catalogue in a commit or a tree. It is read from Git's objects, not checked out: so no link
 * is followed, no attribute has an effect, and a file that is too large is not read.
 */
export async function openCommitSource(root: string, commit: string, scope: Scope): Promise<CatalogueSource> {
  const top = await listTrees(root, commit, [botsFolder]);
  const folders = top
    .filter(({ mode, path }) => toKind(mode) === 'folder' && isFolderName(toFileName(path)))
    .filter(({ path }) => listNamesInScope(scope, toFileName(path)) !== undefined)
    .map(({ path }) => path);
  const inside = await listTrees(root, commit, folders);
  const beside = await listTrees(root, commit, sideFolders);
  const entries = new Map([...top, ...inside, ...beside].map((entry) => [entry.path, entry]));
  const objects = new ObjectReader(root);
  return {
    listTop: () => listFileNames(top.filter((entry) => !isKeeper(entry))),
    listNames: (name) =>
      listFileNames(inside.filter(({ path }) => path.startsWith(`${botsFolder}/${name}/`))),
    listBeside: (folder) => listFileNames(beside.filter(({ path }) => path.startsWith(`${folder}/`))),
    findBots: async (ids) => {
      const folders = new Set(ids.map((id) => `${botsFolder}/${folderOf(id)}`));
      const pages = await listTrees(root, commit, [...folders]);
      const found = new Set(pages.map(({ path }) => parsePagePath(path)?.id));
      return new Set(ids.filter((id) => found.has(id)));
    },
    kindOf: (path) => {
      if (path === botsFolder) return top.length > 0 ? 'folder' : undefined;
      const entry = entries.get(path);
      return entry && toKind(entry.mode);
    },
    readPages: async (places) => {
      const files = await Promise.all(
        places.map(
          async (place) =>
            await readCommittedPage(objects, place, entries.get(pathOf(place.id, place.locale))),
        ),
      );
      return files.filter((file) => file !== undefined);
    },
    readFile: async (path) => await readCommittedFile(objects, commit, path),
    close: () => objects.close(),
  };
}

async function readCommittedPage(
  objects: ObjectReader,
  place: PagePlace,
  entry: ListedEntry | undefined,
): Promise<PageFile | undefined> {
  if (entry === undefined) return undefined;
  const { path, mode, id, size } = entry;
  const kind = toKind(mode);
  if (kind !== 'file')
    return createRefusedPageFile(place, createFileFault(path, 'regular-file', notAFile[kind]));
  if (size > maxFileSize) return createRefusedPageFile(place, createSizeFault(path));
  const object = await objects.readOne(id);
  return parsePageFile(place, object?.content ?? Buffer.alloc(0));
}

/** Reads a file of a commit by its path, which is relative to the catalogue's folder. */
async function readCommittedFile(objects: ObjectReader, commit: string, path: string): Promise<FileReading> {
  const slash = path.lastIndexOf('/') + 1;
  const folder = await objects.readOne(`${commit}:./${path.slice(0, slash)}`);
  if (folder?.type !== 'tree') return undefined;
  const entry = parseTree(folder.content, folder.id.length === 64 ? 'sha256' : 'sha1').get(path.slice(slash));
  if (entry === undefined) return undefined;
  const kind = toKind(entry.mode);
  if (kind !== 'file') return notAFile[kind];
  // A file that is too large to be read is too large for its rules, too.
  return (await objects.readOne(entry.id))?.content ?? Buffer.alloc(maxReadSize + 1);
}

function isKeeper({ path, mode, size }: ListedEntry): boolean {
  return path === `${botsFolder}/${gitkeep}` && toKind(mode) === 'file' && size === 0;
}

function listFileNames(entries: readonly ListedEntry[]): string[] {
  return entries.map(({ path }) => toFileName(path)).toSorted();
}

function toFileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
