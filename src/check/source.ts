import { type Dirent, existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BotId } from '../bot/id.ts';
import { collectionsFolder } from '../catalogue/page/collection.ts';
import { botsFolder, folderOf, type PagePlace } from '../catalogue/page/layout.ts';
import { type PageFile, readPageFile } from '../catalogue/page/page-file.ts';
import { peopleFolder } from '../catalogue/page/profile.ts';
import { createDiskReader, type FileReader } from '../catalogue/settings/read-settings.ts';
import { groupByBot } from '../catalogue/store/folder.ts';

/** What may be at a path of a catalogue. */
export type EntryKind = 'file' | 'folder' | 'symlink' | 'submodule' | 'other';

/** The catalogue that a check reads: a folder on disk, or a commit. Paths are relative to its folder. */
export interface CatalogueSource {
  /** Returns what is in a folder, by name; nothing if there is no such folder. @throws when it cannot be read */
  list(folder: string): Listing | Promise<Listing>;
  /** Reads the page files at these places. A file that does not exist is left out. */
  readPages(places: readonly PagePlace[]): readonly PageFile[] | Promise<readonly PageFile[]>;
  readonly readFile: FileReader;
  /** Releases what reading needed. */
  close?(): void;
}

export type Listing = ReadonlyMap<string, EntryKind>;

/** The folders beside `bots/`. */
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

/** Returns the places of a bot's page files. */
export async function listPlaces(source: CatalogueSource, id: BotId): Promise<readonly PagePlace[]> {
  const folder = folderOf(id);
  const names = (await source.list(`${botsFolder}/${folder}`)).keys();
  return groupByBot(folder, names).bots.get(id) ?? [];
}

function toEntryKind(folder: string, entry: Dirent): EntryKind {
  if (entry.isSymbolicLink()) return 'symlink';
  if (entry.isDirectory()) return existsSync(join(folder, entry.name, '.git')) ? 'submodule' : 'folder';
  return entry.isFile() ? 'file' : 'other';
}
