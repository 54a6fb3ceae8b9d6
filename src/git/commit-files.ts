import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fsyncFolders } from '../lib/files.ts';
import type { GitFile } from './trees.ts';
import { waitForOrphans, wasKilled } from './leftovers.ts';
import { GitError } from './run-git.ts';
import type { Repository } from './repository.ts';
import { createRefConflictError, readAfterFailure, readRef } from './refs.ts';

/** A file in a new commit: new bytes, an existing blob, or null, which removes it. */
export type NewFile = { readonly mode: string; readonly content: Buffer } | GitFile | null;

/** Returns a regular file with a text. */
export function toNewFile(text: string): { readonly mode: string; readonly content: Buffer } {
  return { mode: '100644', content: Buffer.from(text) };
}

/** A commit that no ref points at yet. */
export interface NewCommit {
  /** The files change the tree of the first. In a history, the previous commit if left out. */
  readonly parents?: readonly string[];
  /** The tree that the files change, if it is not the first parent's. */
  readonly tree?: string;
  /** Path from the top of the repository → the new file. */
  readonly files?: ReadonlyMap<string, NewFile>;
  readonly message: string;
  /** `name <address> seconds +0000`; the service and the current time by default. */
  readonly committer?: string;
}

/** The files of a commit, and its message. */
export type FilesCommit = Required<Pick<NewCommit, 'files' | 'message'>>;

/** A commit that moves its ref. */
export interface RefCommit extends FilesCommit {
  /** Such as `refs/heads/main`. */
  readonly ref: string;
  /** The commit that the ref is at; null if it does not exist. */
  readonly onto: string | null;
  /** Whether a response waits for the commit: then nothing is compressed until maintenance packs it. */
  readonly urgent: boolean;
}

/**
 * Makes a commit and moves its ref with one `git fast-import`, without work tree and index, and returns the commit's
 * id. Objects and ref are on disk; the names of new files in the folders of `toPackFolder` and `listRefFolders` may not
 * be yet. A commit counts as made if git fails after it moved the ref.
 * @throws {BotshelfError} ref-conflict, when the ref is not at `onto`: nothing has changed
 * @throws {GitError} when git fails for another reason: nothing has changed
 * @throws {BotshelfError} unknown-outcome
 */
export async function importCommit(repository: Repository, commit: RefCommit): Promise<string> {
  const { ref, onto, files, message, urgent } = commit;
  if ((await readRef(repository, ref)) !== onto) throw createRefConflictError(ref);
  const committer = nameCommitter(repository);
  const parents = onto === null ? [] : [onto];
  const input = toStream(formatCommit(ref, { committer, parents, files, message }));
  const compression = urgent ? ['-c', 'core.compression=0'] : [];
  try {
    return await runFastImport(repository, compression, input);
  } catch (error) {
    if (!(error instanceof GitError) || error.startFailure) throw error;
    if (wasKilled(error)) await waitForOrphans(repository);
    const tip = await readAfterFailure(ref, error, async () => await repository.objects.readOne(ref));
    if ((tip?.id ?? null) === onto) throw error;
    if (tip !== undefined && isWantedCommit(tip.content, { onto, committer, message })) return tip.id;
    throw createRefConflictError(ref);
  }
}

/** Returns the folder in which an import makes new files. */
export function toPackFolder({ commonDir }: Repository): string {
  return join(commonDir, 'objects/pack');
}

/** Makes a commit on no ref, durably, and returns its id. @throws {GitError} */
export async function writeCommit(repository: Repository, commit: NewCommit): Promise<string> {
  return await writeHistory(repository, [commit]);
}

/** Makes a history on no ref, oldest commit first, durably, and returns the id of the last. @throws {GitError} */
export async function writeHistory(repository: Repository, commits: Iterable<NewCommit>): Promise<string> {
  const committer = nameCommitter(repository);
  const parts: StreamPart[] = [];
  let mark = 0;
  for (const commit of commits) {
    const parents = mark === 0 ? [] : [`:${mark}`];
    parts.push(...formatCommit(unused, { committer, parents, ...commit }, ++mark));
  }
  const id = await runFastImport(repository, [], toStream(parts, mark, `reset ${unused}\n\n`));
  await fsyncFolders(await listObjectFolders(repository));
  return id;
}

/** A ref that is reset before the end of the input, so that only objects are written. */
const unused = 'refs/botshelf/writing';

/**
 * Runs fast-import and returns its output. After a failure, removes its crash report, and the pack that a full disk
 * leaves.
 */
async function runFastImport(
  repository: Repository,
  settings: readonly string[],
  input: Buffer,
): Promise<string> {
  try {
    return (await repository.run([...settings, ...fastImport.split(' ')], { input })).trim();
  } catch (error) {
    const stderr = error instanceof GitError ? error.stderr : '';
    const packs = stderr.match(/(?<=objects\/pack\/)tmp_\w+/g) ?? [];
    const reports = stderr.match(/\bfast_import_crash_\d+/g) ?? [];
    const paths = [
      ...packs.map((name) => join(toPackFolder(repository), name)),
      ...reports.map((name) => join(repository.gitDir, name)),
    ];
    for (const path of paths) await rm(path, { force: true });
    throw error;
  }
}

function nameCommitter({ identity }: Repository): string {
  return `${identity} ${Math.floor(Date.now() / 1000)} +0000`;
}

/** Returns the folders in which any git makes new objects: a merged tree is not in a pack. */
async function listObjectFolders({ commonDir }: Repository): Promise<string[]> {
  const objects = join(commonDir, 'objects');
  const names = (await readdir(objects)).filter((name) => /^(?:[0-9a-f]{2}|pack)$/.test(name));
  return [...names.map((name) => join(objects, name)), objects];
}

/**
 * With a limit of 0, git keeps a commit as a pack, and does not unpack it into folders that are not synced. With `--done`,
 * it refuses an input that is cut off. With `--depth=0`, it makes no deltas: each would be against the file before, which
 * is another bot's, and maintenance would keep it instead of a better one.
 */
const fastImport = '-c fastimport.unpackLimit=0 fast-import --quiet --done --date-format=raw --depth=0';

type StreamPart = string | Buffer;

/** Returns the input of fast-import that makes a commit. @param mark names it in the rest of the input */
function formatCommit(
  ref: string,
  { committer, parents = [], tree, files = new Map(), message }: NewCommit & { readonly committer: string },
  mark = 1,
): StreamPart[] {
  const [first, ...others] = parents;
  const parts: StreamPart[] = [
    `commit ${ref}\nmark :${mark}\ncommitter ${committer}\n`,
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
  return parts;
}

/** Returns a whole input, after which git prints the id of the commit with this mark. */
function toStream(parts: readonly StreamPart[], mark = 1, end = ''): Buffer {
  const all = [...parts, `get-mark :${mark}\n${end}done\n`];
  return Buffer.concat(all.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function formatData(content: Buffer): StreamPart[] {
  return [`data ${content.length}\n`, content, '\n'];
}

/** Returns a path in the quotes of fast-import. */
function quotePath(path: string): string {
  return `"${path.replace(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
}

/** Returns whether a commit is the wanted one. */
function isWantedCommit(
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
