import { kindOfMode, parseTree } from '../git/objects/tree.ts';
import { ObjectReader } from '../git/objects/object-reader.ts';
import { type ListedEntry, listTrees } from '../git/tree-listing.ts';
import { fileFault } from '../catalogue/page/fault.ts';
import { botsFolder, isFolderName, keeper, pathOf, type PagePlace } from '../catalogue/page/layout.ts';
import { maxFileSize, sizeFault } from '../catalogue/page/page.ts';
import { notAFile, type PageFile, pageFileOf, refusedPageFile } from '../catalogue/page/page-file.ts';
import type { FileReading } from '../catalogue/settings/read-settings.ts';
import { namesInScope, type Scope } from './scope.ts';
import type { CatalogueSource } from './source.ts';

/**
 * Opens the part `scope` of the catalogue in a commit or a tree. It is read from Git's objects, not checked out: so no link
 * is followed, no attribute has an effect, and a file that is too large is not read.
 */
export async function openCommitSource(root: string, commit: string, scope: Scope): Promise<CatalogueSource> {
  const top = await listTrees(root, commit, [botsFolder]);
  const folders = top
    .filter(({ mode, path }) => kindOfMode(mode) === 'folder' && isFolderName(nameOf(path)))
    .filter(({ path }) => namesInScope(scope, nameOf(path)) !== undefined)
    .map(({ path }) => path);
  const inside = await listTrees(root, commit, folders);
  const entries = new Map([...top, ...inside].map((entry) => [entry.path, entry]));
  const objects = new ObjectReader(root);
  return {
    listTop: () => namesOf(top.filter((entry) => !isKeeper(entry))),
    listNames: (name) => namesOf(inside.filter(({ path }) => path.startsWith(`${botsFolder}/${name}/`))),
    kindOf: (path) => {
      if (path === botsFolder) return top.length > 0 ? 'folder' : undefined;
      const entry = entries.get(path);
      return entry && kindOfMode(entry.mode);
    },
    readPages: async (places) => {
      const files = await Promise.all(
        places.map(
          async (place) => await readPage(objects, place, entries.get(pathOf(place.id, place.locale))),
        ),
      );
      return files.filter((file) => file !== undefined);
    },
    readFile: async (path) => await readFileOf(objects, commit, path),
    close: () => objects.close(),
  };
}

async function readPage(
  objects: ObjectReader,
  place: PagePlace,
  entry: ListedEntry | undefined,
): Promise<PageFile | undefined> {
  if (entry === undefined) return undefined;
  const { path, mode, id, size } = entry;
  const kind = kindOfMode(mode);
  if (kind !== 'file') return refusedPageFile(place, fileFault(path, 'regular-file', notAFile[kind]));
  if (size > maxFileSize) return refusedPageFile(place, sizeFault(path));
  const object = await objects.readOne(id);
  return pageFileOf(place, object?.content ?? Buffer.alloc(0));
}

/** Reads a file of a commit by its path, which is relative to the catalogue's folder. */
async function readFileOf(objects: ObjectReader, commit: string, path: string): Promise<FileReading> {
  const slash = path.lastIndexOf('/') + 1;
  const folder = await objects.readOne(`${commit}:./${path.slice(0, slash)}`);
  if (folder?.type !== 'tree') return undefined;
  const entry = parseTree(folder.content, folder.id.length === 64 ? 'sha256' : 'sha1').get(path.slice(slash));
  if (entry === undefined) return undefined;
  const kind = kindOfMode(entry.mode);
  if (kind !== 'file') return notAFile[kind];
  // A file that is too large to be read is too large for its rules, too.
  return (await objects.readOne(entry.id))?.content ?? Buffer.alloc(maxFileSize + 1);
}

function isKeeper({ path, mode, size }: ListedEntry): boolean {
  return path === `${botsFolder}/${keeper}` && kindOfMode(mode) === 'file' && size === 0;
}

function namesOf(entries: readonly ListedEntry[]): string[] {
  return entries.map(({ path }) => nameOf(path)).toSorted();
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
