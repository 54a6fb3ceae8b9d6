import type { Repository } from '../repository.ts';

/** A file as a tree or the index has it. */
export interface GitFile {
  /** Octal, as Git writes it: 100644, 100755, 120000 (symbolic link), 160000 (submodule). */
  readonly mode: string;
  /** The blob, or the commit of a submodule. */
  readonly id: string;
}

/** A file and what it becomes; null where there is none. */
export interface FileChange {
  /** From the top of the repository. */
  readonly path: string;
  readonly before: GitFile | null;
  readonly after: GitFile | null;
}

/** A file of which Git has more than one version because a person has to merge them. */
export const unmerged = 'unmerged';

/** What differs between two commits or trees, a rename as a removal and a new file. @throws {GitExit} */
export async function diffTrees(repository: Repository, from: string, to: string): Promise<FileChange[]> {
  const output = await repository.run(['diff-tree', '-r', ...rawDiff, from, to]);
  return parseRawDiff(output).map(({ path, before, after }) => ({
    path,
    before,
    after: after === unmerged ? null : after,
  }));
}

/** The options that make a diff command print what `parseRawDiff` reads. */
export const rawDiff = ['-z', '--raw', '--no-renames', '--no-abbrev'] as const;

/** Parses the raw format of Git's diff commands: `:<modes> <ids> <status>`, then the path, each ended by NUL. */
export function parseRawDiff(
  output: string,
): (Omit<FileChange, 'after'> & { readonly after: GitFile | null | typeof unmerged })[] {
  const fields = output.split('\0');
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, i) => {
    const [oldMode = '', mode = '', oldId = '', id = '', status] = (fields[2 * i] ?? '').slice(1).split(' ');
    const after = status === 'U' ? unmerged : fileOf(mode, id);
    return { path: fields[2 * i + 1] ?? '', before: fileOf(oldMode, oldId), after };
  });
}

function fileOf(mode: string, id: string): GitFile | null {
  return mode === '000000' ? null : { mode, id };
}
