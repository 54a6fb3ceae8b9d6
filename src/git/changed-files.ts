import { execFile } from 'node:child_process';
import { OperatorFault } from '../operator-fault.ts';
import { codeOf } from '../system-error.ts';

/** A file that is not as it was in a revision. Paths are relative to the folder asked about, with `/`. */
export interface ChangedFile {
  /** Where it is now, or where it was when it is gone. */
  readonly path: string;
  /** Where it was; null when it is new. */
  readonly previousPath: string | null;
  /** What it is now. */
  readonly kind: 'file' | 'symlink' | 'submodule' | 'gone';
  /** Its bytes as they were; null when it is new, or was outside the watched folder. */
  readonly before: Buffer | null;
}

/**
 * What differs below `folder` between the commit where HEAD left `revision` and the working tree, committed
 * or not. Below `watched`, a folder in it, files that Git does not know yet are told of too, and the old bytes are read. A
 * file counts as moved when four fifths of it are the same.
 * @throws {OperatorFault} when there is no such revision here, no repository, or no git.
 */
export async function changedFiles(
  folder: string,
  revision: string,
  watched: string,
): Promise<ChangedFile[]> {
  const base = await mergeBase(folder, revision);
  const [diff, untracked] = await Promise.all([
    run(folder, ['diff', ...diffOptions, base, '--']),
    run(folder, ['ls-files', '--others', '-z', '--', watched]),
  ]);
  const changes = parseRawDiff(diff.toString());
  const olds = [...changes.values()].filter(({ previousPath }) => previousPath?.startsWith(`${watched}/`));
  const bytes = await readBlobs(
    folder,
    olds.map(({ blob }) => blob),
  );
  const files = new Map<string, ChangedFile>();
  for (const { path, previousPath, kind, blob } of changes.values()) {
    files.set(path, { path, previousPath, kind, before: bytes.get(blob) ?? null });
  }
  for (const path of untracked.toString().split('\0')) {
    const known = files.get(path);
    // An untracked repository within ours is listed as a folder, with a slash at its end.
    const kind = path.endsWith('/') ? 'submodule' : 'file';
    if (path !== '') files.set(path, { path, previousPath: null, before: null, ...known, kind });
  }
  return [...files.values()];
}

const diffOptions = [
  '--raw',
  '-z',
  '--no-abbrev',
  '--relative',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
  '--find-renames=80%',
];

interface RawChange {
  readonly path: string;
  readonly previousPath: string | null;
  readonly kind: ChangedFile['kind'];
  /** The Git blob id of the old bytes; zeros when it is new. */
  readonly blob: string;
}

/** Takes `:100644 100644 <old> <new> R095\0old path\0new path\0…` apart; the last word on a path counts. */
function parseRawDiff(diff: string): Map<string, RawChange> {
  const changes = new Map<string, RawChange>();
  const fields = diff.split('\0').values();
  for (const head of fields) {
    const [, mode = '', blob = '', , status = ''] = head.split(' ');
    if (!head.startsWith(':')) continue;
    const first = fields.next().value ?? '';
    const path = /^[RC]/.test(status) ? (fields.next().value ?? '') : first;
    const previousPath = status.startsWith('A') || status.startsWith('C') ? null : first;
    changes.set(path, { path, previousPath, kind: kinds[mode] ?? 'file', blob });
  }
  return changes;
}

const kinds: Readonly<Record<string, ChangedFile['kind']>> = {
  '000000': 'gone',
  '120000': 'symlink',
  '160000': 'submodule',
};

/** The user's word is an argument only here, behind the end of the options; from then on ids are. */
async function mergeBase(folder: string, revision: string): Promise<string> {
  const commit = await run(folder, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${revision}^{commit}`,
  ]).catch(async (error: unknown) => {
    if (!(error instanceof GitFailure)) throw error;
    throw await revisionFault(folder, revision, error);
  });
  const id = commit.toString().trim();
  const base = await run(folder, ['merge-base', id, 'HEAD']).catch(async (error: unknown) => {
    if (!(error instanceof GitFailure)) throw error;
    if (await isShallow(folder)) throw new OperatorFault(shallowMessage(revision));
    throw new OperatorFault(
      `HEAD and ${JSON.stringify(revision)} have no commit in common: give a revision that this branch came from`,
    );
  });
  return base.toString().trim();
}

async function revisionFault(folder: string, revision: string, failure: GitFailure): Promise<OperatorFault> {
  const shallow = await isShallow(folder);
  if (shallow === undefined) {
    return new OperatorFault(
      `git cannot read ${folder}: ${failure.detail || 'it is in no Git repository'}; --base needs a clone`,
    );
  }
  if (shallow) return new OperatorFault(shallowMessage(revision));
  return new OperatorFault(
    `${JSON.stringify(revision)} is no commit here: fetch it first, or give another revision such as origin/main`,
  );
}

function shallowMessage(revision: string): string {
  return `this clone is shallow and lacks what it shares with ${JSON.stringify(revision)}: fetch the whole history (git fetch --unshallow)`;
}

/** Undefined where there is no repository that can be read. */
async function isShallow(folder: string): Promise<boolean | undefined> {
  try {
    return (await run(folder, ['rev-parse', '--is-shallow-repository'])).toString().trim() === 'true';
  } catch (error) {
    if (error instanceof GitFailure) return undefined;
    throw error;
  }
}

/** Blob id → bytes. An id that is here twice is read once. */
async function readBlobs(folder: string, ids: readonly string[]): Promise<Map<string, Buffer>> {
  const blobs = new Map<string, Buffer>();
  if (ids.length === 0) return blobs;
  const wanted = [...new Set(ids)].map((id) => `${id}\n`).join('');
  const output = await run(folder, ['cat-file', '--batch'], wanted);
  for (let offset = 0; offset < output.length;) {
    const newline = output.indexOf(0x0a, offset);
    const [id = '', type = '', size = '0'] = output.toString('latin1', offset, newline).split(' ');
    offset = newline + 1;
    if (type === 'missing') continue;
    blobs.set(id, output.subarray(offset, offset + Number(size)));
    offset += Number(size) + 1;
  }
  return blobs;
}

/** A git that ended with another code than 0. */
class GitFailure extends Error {
  /** The first line of what it said. */
  readonly detail: string;

  constructor(detail: string) {
    super(detail);
    this.name = 'GitFailure';
    this.detail = detail;
  }
}

async function run(folder: string, args: readonly string[], input?: string): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const all = ['-C', folder, '--no-optional-locks', '-c', 'core.fsmonitor=false', ...args];
    const options = { encoding: 'buffer', maxBuffer: Number.POSITIVE_INFINITY } as const;
    const git = execFile('git', all, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (codeOf(error) === 'ENOENT') reject(new OperatorFault('git is not on the PATH: install it'));
      else reject(new GitFailure(firstLine(stderr.toString())));
    });
    // A git that has failed does not read on; its exit code tells.
    git.stdin?.on('error', () => {});
    git.stdin?.end(input);
  });
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/^fatal: /, '');
}
