import { posix } from 'node:path';
import { createFileFault } from '../catalogue/page/fault.ts';
import { pathOf } from '../catalogue/page/layout.ts';
import { maxReadSize, notAFile, parsePageFile, createRefusedPageFile } from '../catalogue/page/page-file.ts';
import type { FileReader } from '../catalogue/settings/read-settings.ts';
import { ObjectReader } from '../git/objects/object-reader.ts';
import { parseTree, toKind, type TreeEntry } from '../git/objects/tree.ts';
import type { CatalogueSource } from './source.ts';

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
    const { mode, id } = folder === '.' ? top : ((await findEntry(folder)) ?? { mode: '', id: '' });
    const tree = toKind(mode) === 'folder' ? await objects.readOne(id) : undefined;
    return tree ? parseTree(tree.content, tree.id.length === 64 ? 'sha256' : 'sha1') : new Map();
  };
  const top: TreeEntry = { mode: '40000', id: `${commit}:./` };
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
  return {
    list: async (folder) =>
      new Map([...(await openTree(folder))].map(([name, { mode }]) => [name, toKind(mode)])),
    readPages: async (places) => {
      const files = places.map(async (place) => ({
        place,
        bytes: await readFile(pathOf(place.id, place.locale)),
      }));
      return (await Promise.all(files)).flatMap(({ place, bytes }) => {
        if (bytes === undefined) return [];
        if (Buffer.isBuffer(bytes)) return [parsePageFile(place, bytes)];
        const fault = createFileFault(pathOf(place.id, place.locale), 'regular-file', bytes);
        return [createRefusedPageFile(place, fault)];
      });
    },
    readFile,
    close: () => objects.close(),
  };
}
