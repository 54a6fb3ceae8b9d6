import { type Dirent, existsSync, lstatSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { BotId } from '../bot/id.ts';
import { botsFolder, type FilePlace, folderOf, pathOf, groupByBot } from '../catalogue/page/layout.ts';
import {
  type PageFile,
  readPageFile,
  maxReadSize,
  notAFile,
  toPageFile,
  createDiskReader,
  type FileReader,
} from '../catalogue/page/page-file.ts';
import { collectionsFolder, peopleFolder } from '../catalogue/page/side-file.ts';
import { runCommandLineGit } from '../git/run-git.ts';
import { ObjectReader, parseTree, toKind, type TreeEntry } from '../git/objects.ts';

/** A part of the catalogue: all of it, or names in `bots/` with all or some of the names in each. */
export type Scope = 'everything' | ReadonlyMap<string, 'everything' | ReadonlySet<string>>;

/** Returns the part that has these paths, each relative to the catalogue's folder and at or below `bots/`. */
export function createScope(paths: Iterable<string>): Scope {
  const scope = new Map<string, 'everything' | Set<string>>();
  for (const path of paths) {
    const [, top, name] = path.split('/');
    if (top === undefined) return 'everything';
    const names = scope.get(top);
    if (name === undefined || names === 'everything') scope.set(top, 'everything');
    else if (names) names.add(name);
    else scope.set(top, new Set([name]));
  }
  return scope;
}

/** Returns the names of `bots/<top>/` in the part, or undefined. */
export function listNamesInScope(scope: Scope, top: string): 'everything' | ReadonlySet<string> | undefined {
  return scope === 'everything' ? 'everything' : scope.get(top);
}

/** Whether a path relative to the catalogue's folder is in the part. */
export function isInScope(scope: Scope, path: string): boolean {
  if (scope === 'everything') return true;
  const [bots, top = '', name = ''] = path.split('/');
  const names = bots === botsFolder ? scope.get(top) : undefined;
  return names === 'everything' || (names?.has(name) ?? false);
}

/** The kinds of entries at a path of a catalogue. */
export type EntryKind = 'file' | 'folder' | 'symlink' | 'submodule' | 'other';

/** The catalogue that a check reads: a folder on disk, or a commit. Paths are relative to its folder. */
export interface CatalogueSource {
  /** Returns the entries of a folder by name; empty if it does not exist. @throws if it cannot be read */
  list(folder: string): Listing | Promise<Listing>;
  /** Reads the files of bots at these places. A file that does not exist is left out. */
  readPages(places: readonly FilePlace[]): readonly PageFile[] | Promise<readonly PageFile[]>;
  readonly readFile: FileReader;
  /** Releases what reading needed. */
  close?(): void;
}

type Listing = ReadonlyMap<string, EntryKind>;

/** The folders next to `bots/`. */
export const sideFolders: readonly string[] = [peopleFolder, collectionsFolder];

export function createFolderSource(root: string): CatalogueSource {
  return {
    list: (folder) => {
      const path = join(root, folder);
      if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return new Map();
      const entries = readdirSync(path, { withFileTypes: true });
      const inOrder = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      return new Map(inOrder.map((entry) => [entry.name, toEntryKind(path, entry)]));
    },
    readPages: (places) => places.flatMap((place) => readPageFile(root, place) ?? []),
    readFile: createDiskReader(root),
  };
}

/** Returns the places of a bot's files. */
export async function listPlaces(source: CatalogueSource, id: BotId): Promise<readonly FilePlace[]> {
  const folder = folderOf(id);
  const names = (await source.list(`${botsFolder}/${folder}`)).keys();
  return groupByBot(folder, names).bots.get(id) ?? [];
}

function toEntryKind(folder: string, entry: Dirent): EntryKind {
  if (entry.isSymbolicLink()) return 'symlink';
  if (entry.isDirectory()) return existsSync(join(folder, entry.name, '.git')) ? 'submodule' : 'folder';
  return entry.isFile() ? 'file' : 'other';
}

/**
 * Opens the catalogue in a commit or a tree. It is read from Git's objects, not checked out: so no link is followed, no
 * attribute has an effect, and a file that is too large is not read.
 */
export function openCommitSource(root: string, commit: string): CatalogueSource {
  const objects = new ObjectReader(root);
  const trees = new Map<string, Promise<ReadonlyMap<string, TreeEntry>>>();
  const openTree = async (folder: string): Promise<ReadonlyMap<string, TreeEntry>> => {
    const tree = trees.get(folder) ?? readTree(folder);
    trees.set(folder, tree);
    return await tree;
  };
  const readTree = async (folder: string): Promise<ReadonlyMap<string, TreeEntry>> => {
    const { mode, id } = (await (folder === '.' ? findTop() : findEntry(folder))) ?? { mode: '', id: '' };
    const tree = toKind(mode) === 'folder' ? await objects.readOne(id) : undefined;
    return tree ? parseTree(tree.content, tree.id.length === 64 ? 'sha256' : 'sha1') : new Map();
  };
  const findTop = async (): Promise<TreeEntry> => {
    const prefix = await runCommandLineGit(root, ['rev-parse', '--show-prefix']);
    return { mode: '40000', id: `${commit}:${prefix.replace(/\n$/, '')}` };
  };
  const findEntry = async (path: string): Promise<TreeEntry | undefined> =>
    (await openTree(posix.dirname(path))).get(posix.basename(path));
  const readFile: FileReader = async (path) => {
    const entry = await findEntry(path);
    if (entry === undefined) return undefined;
    const kind = toKind(entry.mode);
    if (kind !== 'file') return notAFile[kind];
    // A file that is too large to be read is too large for its rules, too.
    return (await objects.readOne(entry.id))?.content ?? Buffer.alloc(maxReadSize + 1);
  };
  const readPage = async (place: FilePlace): Promise<PageFile | []> =>
    toPageFile(place, await readFile(pathOf(place.id, place.locale)), 'sha1') ?? [];
  return {
    list: async (folder) =>
      new Map([...(await openTree(folder))].map(([name, { mode }]) => [name, toKind(mode)])),
    readPages: async (places) => (await Promise.all(places.map(readPage))).flat(),
    readFile,
    close: () => objects.close(),
  };
}
