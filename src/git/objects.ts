import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { LRUCache } from 'lru-cache';
import { BotshelfError, isError } from '../lib/errors.ts';
import { runCommandLineGit, GitError, spawnGit, largeInPieces } from './run-git.ts';

/** The hash function of a repository's object ids. */
export type HashName = 'sha1' | 'sha256';

/** Returns the blob id of a file with these bytes. */
export function computeBlobId(content: Buffer, algorithm: HashName): string {
  return hash(algorithm, Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]));
}

/** Returns the blob id of a file of `size` bytes on disk, which is read in pieces. @throws a system error */
export async function streamBlobId(path: string, size: number, algorithm: HashName): Promise<string> {
  const id = createHash(algorithm).update(`blob ${size}\0`);
  for await (const piece of createReadStream(path)) id.update(piece as Buffer);
  return id.digest('hex');
}

/** An entry of a Git tree: a file or folder. */
export interface TreeEntry {
  /** Octal, as Git writes it: 100644, 100755, 120000 (symbolic link), 40000 or 040000 (folder), 160000 (submodule). */
  readonly mode: string;
  readonly id: string;
}

export const symbolicLink = '120000';

/** The mode of a submodule, which is an empty folder until it is fetched. */
export const submodule = '160000';

/** Returns the kind of an entry with this mode. */
export function toKind(mode: string): 'file' | 'folder' | 'symlink' | 'submodule' {
  if (/^0?40000$/.test(mode)) return 'folder';
  return mode === symbolicLink ? 'symlink' : mode === submodule ? 'submodule' : 'file';
}

/**
 * Returns the entries of a tree object, by name. @throws {BotshelfError} missing-object, if it is damaged
 * @param wanted the names of those that are returned; all by default
 */
export function parseTree(
  tree: Buffer,
  hash: HashName,
  wanted?: ReadonlySet<string>,
): Map<string, TreeEntry> {
  const idLength = hash === 'sha1' ? 20 : 32;
  const entries = new Map<string, TreeEntry>();
  for (let start = 0; start < tree.length && entries.size !== wanted?.size;) {
    const space = tree.indexOf(32, start);
    const end = tree.indexOf(0, space) + 1;
    if (space === -1 || end === 0 || end + idLength > tree.length)
      throw new BotshelfError('missing-object', 'a tree of Git is damaged: run "git fsck" to see which');
    const name = tree.toString('utf8', space + 1, end - 1);
    if (!wanted || wanted.has(name)) {
      const mode = tree.toString('latin1', start, space);
      entries.set(name, { mode, id: tree.toString('hex', end, end + idLength) });
    }
    start = end + idLength;
  }
  return entries;
}

/** The line that `git cat-file` prints before the bytes of an object. */
interface ObjectHeader {
  readonly id: string;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

/** Receives an object in pieces. */
interface ObjectSink {
  push(piece: Buffer): void;
  end(): void;
}

/** Parses a line of `git cat-file --batch-check`; undefined if git has no such object. */
function parseHeader(line: string): ObjectHeader | undefined {
  const [, id, type, size] = /^([0-9a-f]+) ([a-z]+) (\d+)$/.exec(line) ?? [];
  return id === undefined || type === undefined ? undefined : { id, type, size: Number(size) };
}

/** Parses the output of `git cat-file --batch`, in pieces of any size. */
export class BatchParser {
  readonly #begin: (header: ObjectHeader | undefined) => ObjectSink | undefined;
  #line = '';
  #sink: ObjectSink | undefined;
  /** Bytes of the object that are still to come, its newline among them. */
  #left = 0;

  /** @param begin called for each requested name, in order; returns what receives the object, if anything */
  constructor(begin: (header: ObjectHeader | undefined) => ObjectSink | undefined) {
    this.#begin = begin;
  }

  push(piece: Buffer): void {
    for (let at = 0; at < piece.length;) at = this.#left > 0 ? this.#body(piece, at) : this.#head(piece, at);
  }

  #head(piece: Buffer, at: number): number {
    const newline = piece.indexOf(0x0a, at);
    const end = newline === -1 ? piece.length : newline;
    this.#line += piece.toString('latin1', at, end);
    if (newline === -1) return end;
    const header = parseHeader(this.#line);
    this.#line = '';
    this.#sink = this.#begin(header);
    this.#left = header ? header.size + 1 : 0;
    return end + 1;
  }

  #body(piece: Buffer, at: number): number {
    const end = Math.min(at + this.#left, piece.length);
    const bytes = piece.subarray(at, Math.min(at + this.#left - 1, end));
    if (bytes.length > 0) this.#sink?.push(bytes);
    this.#left -= end - at;
    if (this.#left === 0) this.#sink?.end();
    return end;
  }
}

/** The largest allowed file in bytes, because every clone keeps it forever. The service reads no larger file of people. */
export const maxObjectBytes = 10 * 1024 * 1024;

/** Returns id → type and size of those objects that exist here. */
export async function readHeaders(
  folder: string,
  ids: readonly string[],
): Promise<Map<string, ObjectHeader>> {
  if (ids.length === 0) return new Map();
  const input = `${ids.join('\n')}\n`;
  return parseHeaders(await runCommandLineGit(folder, ['cat-file', '--batch-check'], { input }));
}

/** Parses the output of `git cat-file --batch-check`: id → type and size of those objects that exist. */
export function parseHeaders(output: string): Map<string, ObjectHeader> {
  const headers = output.split('\n').flatMap((line) => parseHeader(line) ?? []);
  return new Map(headers.map((header) => [header.id, header]));
}

/** Returns id → bytes of those objects that exist here and have at most `maxBytes` bytes. */
export async function readObjects(
  folder: string,
  ids: readonly string[],
  maxBytes: number,
): Promise<Map<string, Buffer>> {
  const headers = await readHeaders(folder, [...new Set(ids)]);
  const objects = new Map<string, Buffer>();
  await streamObjects(
    folder,
    [...headers].filter(([, { size }]) => size <= maxBytes).map(([id]) => id),
    (id) => {
      const pieces: Buffer[] = [];
      return {
        push: (piece) => void pieces.push(piece),
        end: () => void objects.set(id, Buffer.concat(pieces)),
      };
    },
  );
  return objects;
}

/** Reads objects one after the other, each in pieces, because one may not fit into memory. */
export async function streamObjects(
  folder: string,
  ids: readonly string[],
  sinkOf: (id: string) => ObjectSink,
): Promise<void> {
  if (ids.length === 0) return;
  const parser = new BatchParser((header) => header && sinkOf(header.id));
  const take = (piece: Buffer): void => parser.push(piece);
  await runCommandLineGit(folder, ['cat-file', '--batch'], { input: `${ids.join('\n')}\n`, take });
}

interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly content: Buffer;
}

/**
 * Reads objects through one `git cat-file --batch` that is kept running, so that a read starts no process. It resolves
 * refs at every request, and finds what other processes write.
 */
export class ObjectReader {
  readonly #folder: string;
  /** The object of an id never changes, so the cache is never stale. */
  readonly #trees = new LRUCache<string, Buffer>({
    maxSize: maxTreeBytes,
    sizeCalculation: (tree) => tree.length + 100,
  });
  /** The requests whose objects are still to come, in order. */
  readonly #waiting: ObjectRequest[] = [];
  #child: ChildProcessWithoutNullStreams | undefined;
  /** The number of objects that were requested from this process. */
  #requested = 0;
  #closed = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Returns the objects of these names (ids, refs, `<commit>:<path>`; no line breaks); undefined for a missing one, and
   * for a file larger than `maxBytes`, which is not read into memory. Of a long commit or tag only the beginning is
   * returned.
   * @throws {BotshelfError} missing-object, for an id, or the tree of one: an id that is known must have its object
   * @throws {BotshelfError} list-too-long, for a tree larger than `maxTree`
   * @throws {GitError} when git ends first; the next call starts another, unless the reader is closed
   */
  async read(
    names: readonly string[],
    maxBytes = maxObjectBytes,
    maxTree = Infinity,
  ): Promise<(GitObject | undefined)[]> {
    if (names.length === 0) return [];
    if (names.some((name) => name.includes('\n')))
      throw new RangeError('the name of an object has no line break');
    if (this.#closed) throw new GitError(args, null, 'its reader is closed');
    const child = (this.#requested <= requestsPerProcess && this.#child) || this.#restart();
    this.#requested += names.length;
    const objects = names.map(
      async (name) =>
        await new Promise<GitObject | undefined>((resolve, reject) => {
          this.#waiting.push({ name, maxBytes, maxTree, resolve, reject });
        }),
    );
    child.stdin.write(`${names.join('\n')}\n`);
    return await Promise.all(objects);
  }

  /** Returns the object of one name. @throws as read does */
  async readOne(name: string): Promise<GitObject | undefined> {
    return (await this.read([name]))[0];
  }

  /**
   * Returns the trees of these names (ids of trees, or `<commit>^{tree}`), empty for a missing one. Keeps them in
   * memory: a batch needs those of all its folders, and with many packs git takes a millisecond to find each.
   * @throws as read does
   */
  async readTrees(names: readonly string[], maxTree?: number): Promise<Buffer[]> {
    const missing = names.filter((name) => !this.#trees.has(name));
    const objects = await this.read(missing, maxObjectBytes, maxTree);
    const found = new Map(missing.map((name, i) => [name, objects[i]?.content ?? Buffer.alloc(0)]));
    for (const [name, tree] of found) if (tree.length > 0) this.#trees.set(name, tree);
    return names.map((name) => found.get(name) ?? this.#trees.get(name) ?? Buffer.alloc(0));
  }

  /** Returns whether the object of this id exists and can be read. @throws {GitError} */
  async has(id: string): Promise<boolean> {
    try {
      return (await this.readOne(id)) !== undefined;
    } catch (error) {
      if (isError(error, 'missing-object')) return false;
      throw error;
    }
  }

  /** Makes later reads start a new git, because a running one keeps deleted packs open, and so their disk space. */
  renew(): void {
    if (this.#waiting.length > 0) this.#requested = Number.POSITIVE_INFINITY;
    else {
      this.#child?.stdin.end();
      this.#child = undefined;
    }
  }

  /** Ends its git after the current reads. Later reads are refused, because a git left running keeps the process alive. */
  close(): void {
    this.#closed = true;
    this.#child?.stdin.end();
  }

  /**
   * Starts a git for the requests that wait, and returns it. One that runs is killed: it would print all of a large
   * object, which can take seconds.
   */
  #restart(): ChildProcessWithoutNullStreams {
    this.#child?.kill('SIGKILL');
    const child = spawnGit({ folder: this.#folder, args });
    this.#child = child;
    this.#requested = 0;
    // A process that was replaced may still print.
    const now = (act: () => void): void => {
      if (child === this.#child) act();
    };
    const fail = (status: number | null, stderr: string): void => {
      this.#child = undefined;
      for (const { reject } of this.#waiting.splice(0)) reject(new GitError(args, status, stderr));
    };
    let stderr = '';
    const parser = new BatchParser((header) => this.#begin(header));
    child.on('error', (error) => now(() => fail(-1, error.message)));
    child.on('close', (code) => now(() => fail(code, stderr)));
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (chunk) => (stderr = String(chunk)));
    child.stdout.on('data', (chunk: Buffer) => now(() => parser.push(chunk)));
    child.stdin.write(this.#waiting.map(({ name }) => `${name}\n`).join(''));
    if (this.#closed) child.stdin.end();
    return child;
  }

  #begin(header: ObjectHeader | undefined): ObjectSink | undefined {
    const [first] = this.#waiting;
    const limits: Readonly<Record<string, number | undefined>> = {
      blob: first?.maxBytes,
      tree: first?.maxTree,
    };
    if (header === undefined || header.size > (limits[header.type] ?? Infinity)) {
      const request = this.#waiting.shift();
      if (header) this.#restart();
      else if (request && idLike.test(request.name)) request.reject(createMissingError(request.name));
      if (header?.type === 'tree')
        request?.reject(new BotshelfError('list-too-long', `the tree ${header.id} has too many names`));
      request?.resolve(undefined);
      return undefined;
    }
    const { id, type } = header;
    const pieces: Buffer[] = [];
    let left = type === 'blob' || type === 'tree' ? Infinity : maxCommitBytes;
    return {
      push: (piece) => {
        if (left > 0) pieces.push(piece.subarray(0, left));
        left -= piece.length;
      },
      end: () => this.#waiting.shift()?.resolve({ id, type, content: Buffer.concat(pieces) }),
    };
  }
}

/**
 * Git does not distinguish an object that is missing from one that cannot be read. If it counted as a file that does
 * not exist, a disk error would remove the file.
 */
function createMissingError(name: string): BotshelfError {
  const message = `the object ${name} is missing or cannot be read: try again, and run "git fsck" if it stays`;
  return new BotshelfError('missing-object', message);
}

const idLike = /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?:\^\{tree\})?$/;

/** Enough for the folders of 200,000 bots, in two versions. */
const maxTreeBytes = 32 * 1024 * 1024;

/** More than any commit message of ours, which names up to 1,000 bots; one of others may have gigabytes. */
const maxCommitBytes = 1024 * 1024;

/** A git process keeps every commit it has read in memory, so it is replaced after this many requests. */
const requestsPerProcess = 100_000;

interface ObjectRequest {
  readonly name: string;
  /** Of a blob, and of a tree. */
  readonly maxBytes: number;
  readonly maxTree: number;
  readonly resolve: (object: GitObject | undefined) => void;
  readonly reject: (error: Error) => void;
}

const args = [...largeInPieces, 'cat-file', '--batch'];
