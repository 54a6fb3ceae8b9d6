import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** A file, a folder or a link. */
export interface Inode {
  mode: number;
  /** The initial content of a file, or the target of a link; undefined for a folder. */
  readonly content: Buffer | undefined;
  /** The initial entries of a folder, and those after the calls that were read. */
  readonly before: ReadonlyMap<string, Inode>;
  readonly names: Map<string, Inode>;
  size: number;
}

/** A step of the file system, or the begin of a response. */
export type Step = { readonly text: string } & (
  | { readonly kind: 'write'; readonly inode: Inode; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'resize'; readonly inode: Inode; readonly size: number }
  | {
      readonly kind: 'names';
      readonly inode: Inode;
      readonly names: readonly (readonly [string, Inode | undefined])[];
    }
  /** Every change of the inode, or of all, before step `since` is on the disk. */
  | { readonly kind: 'sync'; readonly inode: Inode | undefined; readonly since: number }
  | { readonly kind: 'response'; readonly body: string }
);

/** The steps that change an inode. */
export type Change = Extract<Step, { kind: 'write' | 'resize' | 'names' }>;

export function newInode(content: Buffer | undefined, mode = 0o644): Inode {
  return { mode, content, before: new Map(), names: new Map(), size: content?.length ?? 0 };
}

/** Reads a file, a link or a folder with all that is in it, other than sockets. */
export function readInode(path: string): Inode {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return newInode(readlinkSync(path, { encoding: 'buffer' }), stat.mode);
  if (!stat.isDirectory()) return newInode(readFileSync(path), stat.mode);
  const entries = readdirSync(path, { withFileTypes: true }).filter((entry) => !entry.isSocket());
  const names = new Map(entries.map(({ name }) => [name, readInode(join(path, name))]));
  return { mode: stat.mode, content: undefined, before: new Map(names), names, size: 0 };
}

export function setNames(target: Map<string, Inode>, names: Extract<Step, { kind: 'names' }>['names']): void {
  for (const [name, inode] of names)
    if (inode === undefined) target.delete(name);
    else target.set(name, inode);
}

/** Returns what a file has, or where a link leads, after these changes. */
export function contentAfter({ content = Buffer.alloc(0) }: Inode, changes: readonly Change[]): Buffer {
  let bytes = Buffer.from(content);
  for (const change of changes) {
    if (change.kind === 'names') continue;
    const size = change.kind === 'write' ? change.offset + change.bytes.length : change.size;
    if (size > bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]);
    if (change.kind === 'write') change.bytes.copy(bytes, change.offset);
    else bytes = bytes.subarray(0, size);
  }
  return bytes;
}

/** Writes a folder as it is where of all changes of an inode only those that `kept` returns have happened. */
export function writeFolder(path: string, folder: Inode, kept: (inode: Inode) => readonly Change[]): void {
  const names = new Map(folder.before);
  for (const change of kept(folder)) if (change.kind === 'names') setNames(names, change.names);
  mkdirSync(path, { recursive: true });
  for (const [name, inode] of names) {
    const to = join(path, name);
    if (inode.content === undefined) writeFolder(to, inode, kept);
    else if ((inode.mode & 0o170000) === 0o120000) symlinkSync(inode.content, to);
    else {
      writeFileSync(to, contentAfter(inode, kept(inode)));
      chmodSync(to, inode.mode & 0o7777);
      // The computer was off for a while.
      utimesSync(to, hourAgo, hourAgo);
    }
  }
}

const hourAgo = Date.now() / 1000 - 3600;

/** The content of each file of a folder by its path, for comparison. */
export function filesIn(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    names.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length), readFileSync(path, 'latin1')];
    }),
  );
}
