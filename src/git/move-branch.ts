import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { failpoint } from '../failpoint.ts';
import type { Log } from '../log.ts';
import { type BranchMove, type GitFile, type MovedFile, moveRefs } from './branch-move.ts';
import { mergeEdit } from './merge-edit.ts';
import { PlainFolders } from './plain-folders.ts';
import type { Repository } from './repository.ts';
import type { Pending } from './pending.ts';
import type { Settler } from './settler.ts';
import type { Unsettled } from './unsettled.ts';
import type { TargetFile } from './work-tree.ts';

export interface MoveOptions {
  /** Where the branch is. */
  readonly tip: string;
  readonly move: BranchMove;
  /** What differs between the two. */
  readonly files: readonly MovedFile[];
  /** The folder for what is not in Git, which no move may touch. Absolute. */
  readonly varFolder: string;
  readonly log: Log;
}

/**
 * Moves the branch. Gives the paths that work tree and index may follow in, and what brings the work tree there.
 * @throws {TipMoved} when the branch is not at `tip`: nothing has changed
 * @throws {GitExit} or a system error, likewise
 */
export async function moveBranch(
  repository: Repository,
  settler: Settler,
  { tip, move, files, varFolder, log }: MoveOptions,
): Promise<{ readonly paths: readonly string[]; readonly follow: () => Promise<void> }> {
  const branch = repository.branch();
  const following = followable(repository, files, varFolder, log);
  const end = await settler.begin(
    following.map((file) => ({ ...unsettled(file), before: file.before?.id ?? null })),
  );
  try {
    failpoint('move.before-refs');
    const now = async (ref: string): Promise<string | null> =>
      (await repository.objects.readOne(ref))?.id ?? null;
    const others = await Promise.all(
      [...move.refs].map(async ([ref, to]) => [ref, { from: await now(ref), to }] as const),
    );
    await moveRefs(repository, new Map([[branch, { from: tip, to: move.commit }], ...others]));
    failpoint('move.after-refs');
  } catch (error) {
    end();
    throw error;
  }
  const pending = following.map((file) => pendingMove(repository, file, log));
  const contents = readContents(repository, following).catch((error: unknown) => {
    log.warn({ err: error }, 'the work tree follows a merge a little later');
    return new Map<string, TargetFile>();
  });
  return {
    paths: following.map(({ path }) => path),
    follow: async () => {
      await settler.committed(pending, await contents, branch).finally(end);
      makeRoomForSubmodules(repository, following);
    },
  };
}

/**
 * Those of the files that work tree and index may follow. A path that could lead out of the work tree, into Git's
 * own folder or into `varFolder`, or that our tools cannot name, is left out, and said.
 */
function followable(
  { folder }: Repository,
  files: readonly MovedFile[],
  varFolder: string,
  log: Log,
): MovedFile[] {
  return files.filter(({ path }) => {
    const absolute = join(folder, path);
    const safe =
      path.split('/').every((name) => !/^(?:|\.{1,2}|\.git|git~1)$/i.test(name)) &&
      !/[\p{Cc}\\]/u.test(path) &&
      absolute !== varFolder &&
      !absolute.startsWith(`${varFolder}/`);
    if (!safe) {
      log.warn(
        { path },
        `${JSON.stringify(path)} is no path that the service follows: remove it from the branch`,
      );
    }
    return safe;
  });
}

/** A file that others have changed, on its way to work tree and index. */
function pendingMove(repository: Repository, file: MovedFile, log: Log): Pending {
  const entry = { ...unsettled(file), known: [file.before?.id ?? null] };
  return { ...mergeEdit(repository, entry, log), torn: false };
}

function unsettled({ path, before, after }: MovedFile): Omit<Unsettled, 'known'> {
  const modes = [before, after].map((file) => file?.mode ?? '');
  const isChmod = modes[0] !== modes[1] && modes.every((mode) => mode.startsWith('100'));
  return { path, after: after?.id ?? null, ...(isChmod && { chmod: true }) };
}

/** A submodule is an empty folder to those who do not fetch it; without one it looks removed. */
function makeRoomForSubmodules({ folder }: Repository, files: readonly MovedFile[]): void {
  const folders = new PlainFolders(folder);
  for (const { path, before, after } of files) {
    if (isSubmodule(before) === isSubmodule(after) || !folders.have(path)) continue;
    try {
      if (isSubmodule(after)) mkdirSync(join(folder, path), { recursive: true });
      else rmdirSync(join(folder, path));
    } catch {
      // Something else is there, which stays.
    }
  }
}

function isSubmodule(file: GitFile | null): boolean {
  return file?.mode === '160000';
}

/** What the files are now; of those that are no files, such as submodules, nothing. */
async function readContents(
  { objects }: Repository,
  files: readonly MovedFile[],
): Promise<Map<string, TargetFile | null>> {
  const blobs = files.flatMap(({ path, after }) => (after && !isSubmodule(after) ? { path, ...after } : []));
  const contents = await objects.read(blobs.map(({ id }) => id));
  const removed = files.flatMap(({ path, after }) => (after === null ? [[path, null] as const] : []));
  const written = blobs.flatMap(({ path, mode, id }, i) => {
    const content = contents[i]?.content ?? null;
    return content !== null || mode.startsWith('100') ? [[path, { id, mode, content }] as const] : [];
  });
  return new Map<string, TargetFile | null>([...removed, ...written]);
}
