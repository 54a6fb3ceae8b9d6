import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fsyncFolders } from '../../lib/fsync.ts';
import { GitError } from '../process/git-error.ts';
import type { Repository } from '../repository.ts';
import type { GitFile } from '../diff.ts';
import { readRef, readAfterFailure, RefConflictError } from '../refs.ts';

/** A file in a new commit: new bytes, an existing blob, or null, which removes it. */
export type NewFile = { readonly mode: string; readonly content: Buffer } | GitFile | null;

export interface NewCommit {
  /** The files change the tree of the first. */
  readonly parents: readonly string[];
  /** The tree that the files change, where it is not the first parent's. */
  readonly tree?: string;
  /** Path from the top of the repository → the new file. */
  readonly files: ReadonlyMap<string, NewFile>;
  readonly message: string;
}

export interface RefCommit extends Pick<NewCommit, 'files' | 'message'> {
  /** Such as `refs/heads/main`. */
  readonly ref: string;
  /** Where the ref is, null where it does not exist. */
  readonly onto: string | null;
  /** Whether a response waits for it: then nothing is compressed until maintenance packs it. */
  readonly urgent: boolean;
}

/**
 * Makes a commit and moves its ref with one `git fast-import`, without work tree and index, and returns the commit's
 * id. Its objects and the ref are on disk; the names of new files in `toPackFolder` and `listRefFolders` may not be yet. A
 * commit counts as made where git fails after it has moved the ref.
 * @throws {RefConflictError} when the ref is not at `onto`: nothing has changed
 * @throws {GitError} when git fails for another reason: nothing has changed
 * @throws {UnknownOutcomeError}
 */
export async function importCommit(repository: Repository, commit: RefCommit): Promise<string> {
  const { ref, onto, files, message, urgent } = commit;
  if ((await readRef(repository, ref)) !== onto) throw new RefConflictError(ref);
  const committer = `${repository.identity} ${Math.floor(Date.now() / 1000)} +0000`;
  const input = commitStream(ref, { parents: onto === null ? [] : [onto], files, message }, committer);
  const compression = urgent ? ['-c', 'core.compression=0'] : [];
  try {
    return (await repository.run([...compression, ...fastImport], { input })).trim();
  } catch (error) {
    if (!(error instanceof GitError) || error.notStarted) throw error;
    const tip = await readAfterFailure(ref, error, async () => await repository.objects.readOne(ref));
    if ((tip?.id ?? null) === onto) throw error;
    if (tip !== undefined && isCommit(tip.content, { onto, committer, message })) return tip.id;
    throw new RefConflictError(ref);
  }
}

/** One commit of a history. */
export interface HistoryCommit {
  /** Seconds since the epoch. */
  readonly time: number;
  readonly message: string;
  /** Path → the whole new text. */
  readonly files: ReadonlyMap<string, string>;
}

/** Creates a ref whose history is `commits`, oldest first. @throws {GitError} */
export async function importHistory(
  repository: Repository,
  ref: string,
  commits: Iterable<HistoryCommit>,
): Promise<void> {
  const parts: (string | Buffer)[] = [];
  for (const { time, message, files } of commits) {
    parts.push(
      `commit ${ref}\ncommitter ${repository.identity} ${time} +0000\n`,
      ...formatData(Buffer.from(message)),
    );
    for (const [path, text] of files)
      parts.push(`M 100644 inline ${quotePath(path)}\n`, ...formatData(Buffer.from(text)));
  }
  await repository.run(fastImport, { input: toBytes([...parts, 'done\n']) });
}

/** Returns the folder in which an import makes new files. */
export function toPackFolder({ commonDir }: Repository): string {
  return join(commonDir, 'objects/pack');
}

/** Makes a commit on no ref, durably, and returns its id. @throws {GitError} */
export async function writeCommit(repository: Repository, commit: NewCommit): Promise<string> {
  const committer = `${repository.identity} ${Math.floor(Date.now() / 1000)} +0000`;
  // The ref is reset before the end of the input: only objects are written.
  const input = commitStream('refs/botshelf/writing', commit, committer, 'reset refs/botshelf/writing\n\n');
  const id = (await repository.run(fastImport, { input })).trim();
  await fsyncFolders(await listObjectFolders(repository));
  return id;
}

/** Returns the folders in which any git makes new objects: a merged tree is not in a pack. */
async function listObjectFolders({ commonDir }: Repository): Promise<string[]> {
  const objects = join(commonDir, 'objects');
  const names = (await readdir(objects)).filter((name) => /^(?:[0-9a-f]{2}|pack)$/.test(name));
  return [...names.map((name) => join(objects, name)), objects];
}

/**
 * With a limit of 0 git never unpacks a commit, into folders that are not synced. With `--done` it refuses an input that
 * is cut off. With `--depth=0` it makes no deltas: they would be against the file before, which is another bot's, and
 * maintenance would keep them instead of better ones.
 */
export const fastImport: readonly string[] = [
  '-c',
  'fastimport.unpackLimit=0',
  'fast-import',
  '--quiet',
  '--done',
  '--date-format=raw',
  '--depth=0',
];

/** Returns the input of fast-import for a commit; git then prints the commit's id. */
function commitStream(
  ref: string,
  { parents, tree, files, message }: NewCommit,
  committer: string,
  end = '',
): Buffer {
  const [first, ...others] = parents;
  const parts: (string | Buffer)[] = [
    `commit ${ref}\nmark :1\ncommitter ${committer}\n`,
    ...formatData(Buffer.from(message)),
    first === undefined ? '' : `from ${first}\n`,
    ...others.map((parent) => `merge ${parent}\n`),
    tree === undefined ? '' : `M 040000 ${tree} \n`,
  ];
  // Removals come first: a file may become a folder.
  const inOrder = [...files].toSorted(([, a], [, b]) => Number(b === null) - Number(a === null));
  for (const [path, file] of inOrder) {
    const name = quotePath(path);
    if (file === null) parts.push(`D ${name}\n`);
    else if ('content' in file) parts.push(`M ${file.mode} inline ${name}\n`, ...formatData(file.content));
    else parts.push(`M ${file.mode} ${file.id} ${name}\n`);
  }
  parts.push(`get-mark :1\n${end}done\n`);
  return toBytes(parts);
}

function toBytes(parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function formatData(content: Buffer): (string | Buffer)[] {
  return [`data ${content.length}\n`, content, '\n'];
}

/** Returns a path in the quotes of fast-import. */
function quotePath(path: string): string {
  return `"${path.replace(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
}

/** Returns whether a commit is the wanted one. */
function isCommit(
  content: Buffer,
  wanted: { readonly onto: string | null; readonly committer: string; readonly message: string },
): boolean {
  const [head = '', ...message] = content.toString().split('\n\n');
  return (
    head.includes(`\nparent ${wanted.onto}\n`) === (wanted.onto !== null) &&
    head.includes(`\ncommitter ${wanted.committer}`) &&
    message.join('\n\n') === wanted.message
  );
}
