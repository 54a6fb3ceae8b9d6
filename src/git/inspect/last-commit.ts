import type { Repository } from '../repository.ts';
import { parseTree } from '../objects/tree.ts';

/**
 * Returns the regular files of a folder in the last commit, by name: those that `wanted` accepts.
 * @param folder from the catalogue's folder, without a slash at its end
 * @throws {GitError}
 */
export async function readCommittedFiles(
  { objects, hash, prefix }: Pick<Repository, 'objects' | 'hash' | 'prefix'>,
  folder: string,
  wanted: (name: string) => boolean,
): Promise<Map<string, Buffer>> {
  const tree = await objects.readOne(`HEAD:${prefix}${folder}`);
  if (tree?.type !== 'tree') return new Map();
  const entries = [...parseTree(tree.content, hash)].filter(
    ([name, { mode }]) => mode.startsWith('100') && wanted(name),
  );
  const blobs = await objects.read(entries.map(([, { id }]) => id));
  return new Map(entries.map(([name], i) => [name, blobs[i]?.content ?? Buffer.alloc(0)]));
}
