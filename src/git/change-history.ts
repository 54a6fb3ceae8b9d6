import { type ChangedFile, toFileKind } from './changed-files.ts';
import { parseRawDiff, rawDiffOptions } from './diff.ts';
import type { RevisionRange } from './revision-range.ts';
import { runCommandLineGit } from './process/command-line-git.ts';

/** A version of a file that a commit adds. */
export interface FileVersion extends Pick<ChangedFile, 'path' | 'kind'> {
  readonly commit: string;
  /** The id of its object; for a submodule that of a commit, which need not be here. */
  readonly blob: string;
}

/**
 * Returns the commits of a range, newest first, and the file versions that they add below `folder`, also those that a
 * later one removes. What a merge takes from a parent counts as that parent's.
 * @throws {OutputLimitError} when git prints more than `maxBytes` bytes
 */
export async function readChangeHistory(
  folder: string,
  { base, head }: RevisionRange,
  maxBytes: number,
): Promise<{ readonly commits: readonly string[]; readonly versions: readonly FileVersion[] }> {
  const output = await runLimited(folder, ['rev-list', `${base}..${head}`, '--'], maxBytes);
  const commits = output.split('\n').slice(0, -1);
  if (commits.length === 0) return { commits, versions: [] };
  const input = commits.map((id) => `${id}\n`).join('');
  const diffs = await runLimited(folder, ['diff-tree', ...diffOptions], maxBytes, input);
  const versions = parseRawDiff(diffs).flatMap(({ header, path, after }) => {
    const kind = toFileKind(after);
    return after === null ? [] : { commit: header.trim(), path, kind, blob: after.id };
  });
  return { commits, versions };
}

/** Git printed more than the limit. */
export class OutputLimitError extends Error {
  constructor(maxBytes: number) {
    super(`git printed more than ${maxBytes} bytes`);
    this.name = 'OutputLimitError';
  }
}

async function runLimited(
  folder: string,
  args: readonly string[],
  maxBytes: number,
  input?: string,
): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxBytes) throw new OutputLimitError(maxBytes);
    pieces.push(piece);
  };
  await runCommandLineGit(folder, args, { take, ...(input !== undefined && { input }) });
  return Buffer.concat(pieces).toString();
}

const diffOptions = [...rawDiffOptions, '--stdin', '-r', '-c', '--root', '--no-renames', '--relative'];
