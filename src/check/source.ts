import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BotId } from '../bot/id.ts';
import { collectionsFolder } from '../catalogue/page/collection.ts';
import { peopleFolder } from '../catalogue/page/profile.ts';
import { listNames, listPages, listTop } from '../catalogue/store/folder.ts';
import type { PagePlace } from '../catalogue/page/layout.ts';
import { type PageFile, readPageFile } from '../catalogue/page/page-file.ts';
import { createDiskReader, type FileReader } from '../catalogue/settings/read-settings.ts';

/** What may be at a path of a catalogue. */
export type EntryKind = 'file' | 'folder' | 'symlink' | 'submodule' | 'other';

/** The catalogue that a check reads: a folder on disk, or a commit. Paths begin with `bots/`. */
export interface CatalogueSource {
  /** The names in `bots/`, in order. @throws when it cannot be read */
  listTop(): readonly string[];
  /** The names in `bots/<top>/`, in order; none when there is no such folder. @throws when it cannot be read */
  listNames(top: string): readonly string[];
  /** The names in a folder beside `bots/`, in order; none where there is no such folder. @throws when it cannot be read */
  listBeside(folder: SideFolder): readonly string[];
  /** Returns those of the bots that have a page. */
  findBots(ids: readonly BotId[]): Promise<ReadonlySet<BotId>>;
  /** Undefined where there is nothing. */
  kindOf(path: string): EntryKind | undefined;
  /** Reads the page files at these places. A file that does not exist is left out. */
  readPages(places: readonly PagePlace[]): Promise<PageFile[]>;
  /** Reads a file outside `bots/`. */
  readonly readFile: FileReader;
  /** Releases what reading needed. */
  close?(): void;
}

/** A folder beside `bots/`. */
export type SideFolder = (typeof sideFolders)[number];

export const sideFolders = [peopleFolder, collectionsFolder] as const;

export function createFolderSource(root: string): CatalogueSource {
  return {
    listTop: () => listTop(root),
    listNames: (top) => listNames(root, top),
    listBeside: (folder) => {
      if (readKind(join(root, folder)) !== 'folder') return [];
      return readdirSync(join(root, folder)).toSorted();
    },
    // oxlint-disable-next-line typescript/require-await -- others read from Git
    findBots: async (ids) => new Set(ids.filter((id) => listPages(root, id).length > 0)),
    kindOf: (path) => readKind(join(root, path)),
    // oxlint-disable-next-line typescript/require-await -- synchronous reads of one small file after the other are faster
    readPages: async (places) => places.flatMap((place) => readPageFile(root, place) ?? []),
    readFile: createDiskReader(root),
  };
}

function readKind(path: string): EntryKind | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) return 'symlink';
  if (stat.isDirectory()) return existsSync(join(path, '.git')) ? 'submodule' : 'folder';
  return stat.isFile() ? 'file' : 'other';
}
