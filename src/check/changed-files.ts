import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { diffTrees, parseRawDiff, rawDiffOptions, type GitFile } from '../git/trees.ts';
import { ObjectReader, toKind, submodule } from '../git/objects.ts';
import { runCommandLineGit, GitError, fetchCommand, maxStallSeconds } from '../git/run-git.ts';
import { BotshelfError, isError, UserError } from '../lib/errors.ts';
import { copyWithTime } from '../lib/files.ts';

/** A file that differs between two commits or trees. Paths are relative to the folder of the query, with `/`. */
export interface ChangedFile {
  /** The path; for a removed file the old one. */
  readonly path: string;
  /** The path before; null for a new file. */
  readonly previousPath: string | null;
  /** The kind after the change. */
  readonly kind: Exclude<ReturnType<typeof toKind>, 'folder'> | 'gone';
  /** The Git id of the new version, for a submodule that of its commit; null if it was removed. */
  readonly blob: string | null;
}

/**
 * Returns the files below `folder` that differ between two commits or trees. A file counts as moved when four fifths of
 * it are the same.
 * @throws {BotshelfError} list-too-long
 */
export async function listTreeChanges(folder: string, before: string, after: string): Promise<ChangedFile[]> {
  await refuseHugeTrees(folder, [[before, after]]);
  const diff = await runLimited(folder, ['diff', ...diffOptions, before, after, '--']);
  return parseRawDiff(diff).map(({ path, previousPath, after, status }) => ({
    path,
    previousPath: /^[AC]/.test(status) ? null : previousPath,
    kind: toFileKind(after),
    blob: after?.id ?? null,
  }));
}

const diffOptions = [
  ...rawDiffOptions,
  '--relative',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames=80%',
  '-l1000',
];

function toFileKind(file: GitFile | null): ChangedFile['kind'] {
  const kind = file === null ? 'gone' : toKind(file.mode);
  return kind === 'folder' ? 'file' : kind;
}

/** A version of a file that a commit adds. */
interface FileVersion extends ChangedFile {
  readonly commit: string;
  readonly blob: string;
}

/**
 * Returns the commits of a range, newest first, and the file versions that they add below `folder`, also those that a
 * later one removes. Changes that a merge takes from a parent count as that parent's.
 * @throws {BotshelfError} list-too-long
 */
export async function readChangeHistory(
  folder: string,
  { base, head }: RevisionRange,
): Promise<{ readonly commits: readonly string[]; readonly versions: readonly FileVersion[] }> {
  const output = await runLimited(folder, ['rev-list', '--parents', `${base}..${head}`, '--']);
  const rows = output.split('\n').slice(0, -1);
  if (rows.length === 0) return { commits: [], versions: [] };
  const families = rows.map((row) => row.split(' '));
  const commits = families.map(([commit = '']) => commit);
  const steps = families.flatMap(([commit = '', ...parents]) =>
    (parents.length === 0 ? [null] : parents).map((parent) => [parent, commit] as const),
  );
  await refuseHugeTrees(folder, steps);
  const input = commits.map((id) => `${id}\n`).join('');
  const diffs = await runLimited(folder, ['diff-tree', ...historyOptions], input);
  const versions = parseRawDiff(diffs).flatMap(({ header, path, after }) => {
    const kind = toFileKind(after);
    return after === null ? [] : { commit: header.trim(), path, previousPath: null, kind, blob: after.id };
  });
  return { commits, versions };
}

/**
 * Refuses commits or trees that differ in so many files that git would take minutes and gigabytes to compare them.
 * @throws {BotshelfError} list-too-long
 */
async function refuseHugeTrees(
  folder: string,
  pairs: readonly (readonly [from: string | null, to: string])[],
): Promise<void> {
  const objects = new ObjectReader(folder);
  try {
    for (const [from, to] of pairs)
      await diffTrees({ objects, hash: to.length === 64 ? 'sha256' : 'sha1' }, from, to);
  } catch (error) {
    throw isError(error, 'diff-too-large') ? new BotshelfError('list-too-long', error.message) : error;
  } finally {
    objects.close();
  }
}

/** Returns the error for a list of files that is longer than a limit. */
function createListError(limit: string): BotshelfError {
  return new BotshelfError('list-too-long', `more than ${limit} are listed`);
}

/** Runs git and returns the list that it prints. @throws {BotshelfError} list-too-long, when that has more than `maxListBytes` */
async function runLimited(folder: string, args: readonly string[], input?: string): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxListBytes) throw createListError(`${maxListBytes} bytes`);
    pieces.push(piece);
  };
  await runCommandLineGit(folder, args, { take, ...(input !== undefined && { input }) });
  return Buffer.concat(pieces).toString();
}

/** Bytes of a list of files, commits or file versions; each takes about 100. */
const maxListBytes = 8 * 1024 * 1024;

const historyOptions = [...rawDiffOptions, '--stdin', '-r', '-c', '--root', '--no-renames', '--relative'];

/** The revisions of a change: ids of commits, or of trees where the field says so. */
export interface RevisionRange {
  /** The revision that the change is made for. */
  readonly base: string;
  /** The last commit of the change: its commits that `base` does not have are added to the history. */
  readonly head: string;
  /** The base that the change is compared with. */
  readonly before: string;
  /** The result of the change, a commit or a tree; null for the work tree. */
  readonly after: string | null;
  /** The paths that Git cannot merge, relative to the folder of the query. */
  readonly conflicts: readonly string[];
}

/**
 * Returns the range from `base` to the result of merging `head` into it: with several merge bases, what `head` changed
 * because one of them can hide what the merge adds. With conflicts it is the changes of `head` since it branched off.
 * Without `head` it goes from where HEAD branched off to the work tree.
 * @throws {BotshelfError} list-too-long
 * @throws {UserError} if the revision or the repository does not exist here, or git is missing or too old
 */
export async function resolveRange(folder: string, base: string, head?: string): Promise<RevisionRange> {
  const target = await resolveCommit(folder, base);
  const tip = await resolveCommit(folder, head ?? 'HEAD');
  const [fork = target, ...more] = await mergeBases(folder, target, tip, [base, head ?? 'HEAD']);
  const range = { base: target, head: tip, before: target, conflicts: [] };
  if (head === undefined) {
    if (more.length > 0)
      throw new UserError(
        `HEAD and ${JSON.stringify(base)} have merged each other, so that no single commit says what changed since: merge ${JSON.stringify(base)} into this branch first, or commit and add --head HEAD`,
      );
    return { ...range, before: fork, after: null };
  }
  if (more.length === 0 && fork === target) return { ...range, after: tip };
  if (more.length === 0 && fork === tip) return { ...range, after: target };
  await refuseHugeTrees(
    folder,
    [fork, ...more].map((base) => [base, tip]),
  );
  const { tree, conflicts } = await mergeResult(folder, target, tip);
  return conflicts.length === 0
    ? { ...range, after: tree }
    : { ...range, before: fork, after: tip, conflicts };
}

/**
 * Merges `theirs` into `ours` as Git hosts do, without a checkout. Returns the merged tree, with conflict markers in it,
 * and the paths that could not be merged. No ref moves; the new trees stay in the object store until Git collects them.
 * Takes 0.15 to 0.45 s at 150,000 files.
 * @throws {UserError} when git cannot merge, or is older than 2.38
 */
async function mergeResult(folder: string, ours: string, theirs: string) {
  const output = await runCommandLineGit(folder, [...mergeTree, ours, theirs], {
    accepts: 1,
    explain: ({ status, reason }) =>
      status === usageError
        ? 'this git cannot merge without a checkout: install Git 2.38 or later'
        : `git could not merge the change: ${reason}`,
  });
  // `<tree>\0`, and after a conflict `<path>\0…` and messages, with an empty field between the two.
  const [tree = '', ...rest] = output.split('\0');
  if (rest.length <= 1) return { tree, conflicts: [] };
  const paths = rest.slice(0, rest.indexOf(''));
  return { tree, conflicts: paths.length > 0 ? paths : ['.'] };
}

/** Merges as by default, whatever is configured. */
const mergeTree = [
  ...['merge.renames=true', 'merge.directoryRenames=conflict', 'merge.renameLimit=7000'].flatMap(
    (setting) => ['-c', setting],
  ),
  'merge-tree',
  '--write-tree',
  '-z',
  '--name-only',
];

const usageError = 129;

async function mergeBases(
  folder: string,
  target: string,
  tip: string,
  [base, head]: readonly [string, string],
): Promise<string[]> {
  const explain = async (): Promise<string> =>
    (await isShallow(folder))
      ? describeShallowClone(base)
      : `${head} and ${JSON.stringify(base)} have no commit in common: name a revision that this branch started from`;
  const args = ['merge-base', '--all', target, tip];
  return (await runCommandLineGit(folder, args, { explain })).trim().split('\n');
}

/**
 * Resolves a revision. This is the only git command with a text of the user as an argument, after the end of options;
 * later ones take ids.
 */
async function resolveCommit(folder: string, revision: string): Promise<string> {
  const explain = async ({ reason }: Pick<GitError, 'reason'>): Promise<string> => {
    const shallow = await isShallow(folder);
    if (shallow === undefined)
      return `git cannot read ${folder}: ${reason || 'it is in no Git repository'}; --base needs a clone`;
    return shallow
      ? describeShallowClone(revision)
      : `${JSON.stringify(revision)} is no commit here: fetch it first, or name another revision such as origin/main`;
  };
  // No revision begins with a hyphen, and simple-git would throw because it takes some for options.
  if (/^\s*-/.test(revision)) throw new UserError(await explain({ reason: '' }));
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`];
  return (await runCommandLineGit(folder, args, { explain })).trim();
}

function describeShallowClone(revision: string): string {
  return `this clone is shallow and does not have the commits that it shares with ${JSON.stringify(revision)}: fetch the whole history (git fetch --unshallow)`;
}

/** Returns whether the clone is shallow; undefined if no repository can be read. */
async function isShallow(folder: string): Promise<boolean | undefined> {
  try {
    return (await runCommandLineGit(folder, ['rev-parse', '--is-shallow-repository'])).trim() === 'true';
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
}

/**
 * Calls `take` with each line in `folder` below `root` that has one of `words`, and its file's path relative to `root`.
 * @param commit a commit or a tree
 * @throws {GitError}
 */
export async function grepLines(
  root: string,
  commit: string,
  folder: string,
  words: readonly string[],
  take: (path: string, line: string) => void,
): Promise<void> {
  const args = [...options, ...words.flatMap((word) => ['-e', word]), commit, '--', folder];
  const decoder = new StringDecoder();
  let rest = '';
  const takePiece = (piece: Buffer): void => {
    const lines = (rest + decoder.write(piece)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const nul = line.indexOf('\0');
      if (nul !== -1) take(line.slice(commit.length + 1, nul), line.slice(nul + 1));
    }
  };
  try {
    await runCommandLineGit(root, ['grep', ...args], { take: takePiece });
  } catch (error) {
    const noneFound = error instanceof GitError && error.status === 1 && error.stderr === '';
    if (!noneFound) throw error;
  }
}

/** Makes the output `path NUL line`, whatever is configured. More threads take 1.5 × the CPU, and no less time. */
const options = [
  '--no-color',
  '--no-line-number',
  '--no-column',
  '--no-heading',
  '--no-break',
  '--no-recurse-submodules',
  '--no-textconv',
  '--text',
  '--fixed-strings',
  '--null',
  '--threads=1',
];

/**
 * Writes a tree of the work tree, as a commit of it would have, and returns its id: of every file that Git tracks, and of
 * all files in `watched`, also those that Git ignores. A repository in `watched` becomes a submodule. Uses a copy of the
 * index, so that unchanged files are not read and the index stays as it is. The new objects stay until Git collects them.
 * @param watched files and folders, relative to `folder`
 * @throws {BotshelfError} list-too-long, if more than `maxUncommitted` files differ from the index; none of them is read
 * @throws {UserError} where Git cannot read a file, or cannot convert it as its attributes say
 */
export async function writeWorkTree(folder: string, watched: readonly string[]): Promise<string> {
  const query = ['rev-parse', '--show-toplevel', '--absolute-git-dir', '--show-prefix', 'HEAD'];
  const found = await runCommandLineGit(folder, query);
  const [top = '', gitDir = '', prefix = '', head = ''] = found.split('\n');
  const paths = watched.map((path) => prefix + path);
  const [diff, others] = await Promise.all([
    runLimited(top, ['diff', ...rawDiffOptions, '--no-ext-diff', '--no-renames', '--']),
    runLimited(top, ['--literal-pathspecs', 'ls-files', '--others', '-z', '--', ...paths]),
  ]);
  const edited = parseRawDiff(diff);
  const added = others.split('\0').slice(0, -1);
  if (edited.length + added.length > maxUncommitted) throw createListError(`${maxUncommitted} files`);
  const entries: string[] = [];
  const files: string[] = [];
  for (const { path, status } of edited) {
    // A file that is now below a link cannot be removed by its path alone.
    if (status === 'D') entries.push(`0 ${'0'.repeat(head.length)}\t${path}\0`);
    else files.push(`${path}\0`);
  }
  for (const path of added) {
    // Git lists a repository as a folder, with a slash at its end.
    if (path.endsWith('/')) entries.push(`${submodule} ${head}\t${path.slice(0, -1)}\0`);
    else files.push(`${path}\0`);
  }
  const temp = await mkdtemp(join(tmpdir(), 'botshelf-index-'));
  const indexFile = join(temp, 'index');
  const run = async (args: readonly string[], input = ''): Promise<string> =>
    await runCommandLineGit(top, [...settings, ...args], { indexFile, ...(input !== '' && { input }) });
  try {
    await copyWithTime(join(gitDir, 'index'), indexFile);
    if (entries.length > 0) await run(['update-index', '-z', '--index-info'], entries.join(''));
    if (files.length > 0) await run([...addFiles, '-z', '--stdin'], files.join(''));
    return (await run(['write-tree', '--missing-ok'])).trim();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new UserError(`Git cannot add the files of the work tree: ${error.reason}`, { cause: error });
  } finally {
    await rm(temp, { recursive: true, force: true });
  }
}

/** Files that differ from the index. Each that is new to Git becomes an object, which is on the disk before the next. */
const maxUncommitted = 10_000;

const addFiles = ['update-index', '--add', '--remove', '--replace'];

/** Copies the index as a whole. Takes a file as it is if Git would not convert it back. */
const settings = ['-c', 'core.splitIndex=false', '-c', 'core.safecrlf=false'];

/**
 * Fetches a commit that no branch of the clone has, such as that of a pull request, with its history. It moves no ref, runs
 * no hook and checks nothing out. A partial clone leaves out the same objects as before.
 * @param remote a remote's name, or an address
 * @param id the whole id of the commit
 * @throws {UserError} if it cannot be fetched, or has broken objects
 */
export async function fetchCommit(folder: string, remote: string, id: string): Promise<void> {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id))
    throw new UserError(
      `${JSON.stringify(id)} is not the id of a commit: --fetch needs all 40 digits in --head`,
    );
  await runCommandLineGit(folder, [...fetch, '--', remote, id], {
    stallSeconds: maxStallSeconds,
    explain: ({ stderr }) =>
      `commit ${id} cannot be fetched from ${JSON.stringify(remote)}, or has broken objects: ${stderr.trim() || 'git was killed'}`,
  });
}

/**
 * Fetches, in one request, those of these objects that a partial clone does not have. Otherwise git would fetch each
 * one when it is read.
 * @param revisions lists of arguments of `git rev-list`: commits, or trees with `--` and paths that are taken literally
 * @throws {GitError}
 */
export async function fetchMissing(folder: string, ...revisions: string[][]): Promise<void> {
  const remote = await findPromisorRemote(folder);
  if (remote === undefined) return;
  const lists = await Promise.all(
    revisions.map(async (args) => await runCommandLineGit(folder, [...listMissing, ...args])),
  );
  const missing = new Set(lists.flatMap((list) => [...list.matchAll(/^\?(.+)$/gm)].map(([, id = '']) => id)));
  if (missing.size === 0) return;
  const input = [...missing].map((id) => `${id}\n`).join('');
  await runCommandLineGit(folder, [...fetchObjects, '--', remote], { input, stallSeconds: maxStallSeconds });
}

/** Returns the remote that a partial clone fetches from; undefined for any other clone. */
async function findPromisorRemote(folder: string): Promise<string | undefined> {
  const query = ['config', '--bool', '--get-regexp', String.raw`^remote\..*\.promisor$`];
  const lines = await runCommandLineGit(folder, query, { accepts: 1 });
  return /^remote\.(.+)\.promisor true$/m.exec(lines)?.[1];
}

const fetch = fetchCommand('fetch.fsckObjects=true');

/** Skips the negotiation of history, because only objects are needed. */
const fetchObjects = ['-c', 'fetch.negotiationAlgorithm=noop', ...fetch, '--filter=blob:none', '--stdin'];

const listMissing = ['--literal-pathspecs', 'rev-list', '--objects', '--no-object-names', '--missing=print'];
