import { join } from 'node:path';
import { foldersUpTo, fsyncFolders } from './durable.ts';
import { GitExit } from './git-exit.ts';
import type { Repository } from './repository.ts';

/** A commit to be made: some files replaced on top of a tip. */
export interface NewCommit {
  /** The ref it moves, such as `refs/heads/main`. */
  readonly ref: string;
  /** The tip it was planned on, null where the ref does not exist. */
  readonly onto: string | null;
  /** `name <address>` */
  readonly identity: string;
  /** Seconds since the epoch. */
  readonly time: number;
  readonly message: string;
  /** Whether somebody waits for it: then nothing is compressed, which housekeeping makes up for with deltas. */
  readonly urgent: boolean;
  /** Path from the top of the repository → mode and whole new content. */
  readonly files: ReadonlyMap<string, NewFile>;
}

export interface NewFile {
  readonly mode: string;
  readonly content: Buffer;
  /** The blob that the content is. */
  readonly id: string;
}

/** The ref is at another commit than the one planned on. */
export class TipMoved extends Error {
  constructor(ref: string) {
    super(`${ref} has moved since the commit was planned`);
    this.name = 'TipMoved';
  }
}

/**
 * Makes the commit with one `git fast-import`, without a checkout and without Git's index, and gives its id
 * once it would survive a power loss. Where git is killed after it has moved the ref, the commit counts as made.
 * @throws {TipMoved} when the ref is not at `onto`: nothing has changed
 * @throws {GitExit} when git fails for another reason: nothing has changed
 */
export async function importCommit(repository: Repository, commit: NewCommit): Promise<string> {
  const { ref, onto } = commit;
  if (((await repository.objects.readOne(ref))?.id ?? null) !== onto) throw new TipMoved(ref);
  let id: string;
  try {
    const input = commitStream(commit);
    const compression = commit.urgent ? ['-c', 'core.compression=0'] : [];
    const settings = ['-c', 'fastimport.unpackLimit=1', ...compression];
    id = (await repository.run([...settings, ...fastImport], { input })).trim();
  } catch (error) {
    id = await madeAllTheSame(repository, commit, error);
  }
  const { commonDir, trees } = repository;
  if (onto !== null)
    await trees.foresee(
      onto,
      [...commit.files].map(([path, file]) => [path, file.id]),
    );
  await fsyncFolders([join(commonDir, 'objects/pack'), ...foldersUpTo(commonDir, join(commonDir, ref))]);
  return id;
}

/**
 * Never waits for more than the `done` at the end of its input, and takes a torn input for none. Makes no deltas: they
 * would be against the file before it, which is another bot's, and housekeeping would keep them instead of good ones.
 */
export const fastImport: readonly string[] = [
  'fast-import',
  '--quiet',
  '--done',
  '--date-format=raw',
  '--depth=0',
];

/** What fast-import reads for this commit. It prints the commit's id at the end. */
export function commitStream({ ref, onto, identity, time, message, files }: NewCommit): Buffer {
  const parts: (string | Buffer)[] = [
    `commit ${ref}\nmark :1\ncommitter ${identity} ${time} +0000\n`,
    ...data(Buffer.from(message)),
    onto === null ? '' : `from ${onto}\n`,
  ];
  for (const [path, { mode, content }] of files) {
    parts.push(`M ${mode} inline ${quotePath(path)}\n`, ...data(content));
  }
  parts.push('get-mark :1\ndone\n');
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function data(content: Buffer): (string | Buffer)[] {
  return [`data ${content.length}\n`, content, '\n'];
}

/** A path as fast-import reads it. */
export function quotePath(path: string): string {
  return `"${path.replace(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
}

/** The commit at the tip if it is the very one that was asked for. */
async function madeAllTheSame(repository: Repository, commit: NewCommit, error: unknown): Promise<string> {
  if (!(error instanceof GitExit) || error.notStarted) throw error;
  const tip = await repository.objects.readOne(commit.ref);
  if ((tip?.id ?? null) === commit.onto) throw error;
  const [head = '', ...message] = tip?.content.toString().split('\n\n') ?? [];
  const isOurs =
    head.includes(`\nparent ${commit.onto}\n`) === (commit.onto !== null) &&
    head.includes(`\ncommitter ${commit.identity} ${commit.time} `) &&
    message.join('\n\n') === commit.message;
  if (tip && isOurs) return tip.id;
  throw new TipMoved(commit.ref);
}
