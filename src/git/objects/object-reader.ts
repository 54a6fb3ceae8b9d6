import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { LRUCache } from 'lru-cache';
import { BatchParser, type ObjectHeader, type ObjectSink } from './batch-parser.ts';
import { GitError } from '../process/git-error.ts';
import { largeInPieces } from '../process/settings.ts';
import { spawnGit } from '../process/run-git.ts';
import { maxObjectBytes } from './objects.ts';

export interface GitObject {
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
  /** How many objects were requested of it. */
  #requested = 0;
  #closed = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Returns the objects of these names (ids, refs, `<commit>:<path>`; no line breaks), undefined where there is none,
   * and for a file larger than `maxObjectBytes`, which is not read into memory.
   * @throws {MissingObjectError} for an id, or the tree of one: an id that is known must have its object
   * @throws {GitError} when git ends first; the next call starts another, unless the reader is closed
   */
  async read(names: readonly string[]): Promise<(GitObject | undefined)[]> {
    if (names.length === 0) return [];
    if (names.some((name) => name.includes('\n')))
      throw new RangeError('the name of an object has no line break');
    if (this.#closed) throw new GitError(args, null, 'its reader is closed');
    const child = (this.#requested <= requestsPerProcess && this.#child) || this.#restart();
    this.#requested += names.length;
    const objects = names.map(
      async (name) =>
        await new Promise<GitObject | undefined>((resolve, reject) => {
          this.#waiting.push({ name, resolve, reject });
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
   * Returns the trees of these names (ids of trees, or `<commit>^{tree}`), empty where there is none. Keeps them in memory:
   * a batch needs those of all its folders, and with many packs git takes a millisecond to find each.
   * @throws as read does
   */
  async readTrees(names: readonly string[]): Promise<Buffer[]> {
    const missing = names.filter((name) => !this.#trees.has(name));
    const objects = await this.read(missing);
    const found = new Map(missing.map((name, i) => [name, objects[i]?.content ?? Buffer.alloc(0)]));
    for (const [name, tree] of found) if (tree.length > 0) this.#trees.set(name, tree);
    return names.map((name) => found.get(name) ?? this.#trees.get(name) ?? Buffer.alloc(0));
  }

  /** Returns whether the object of this id exists and can be read. @throws {GitError} */
  async has(id: string): Promise<boolean> {
    try {
      return (await this.readOne(id)) !== undefined;
    } catch (error) {
      if (error instanceof MissingObjectError) return false;
      throw error;
    }
  }

  /** Has later reads start another git: one that runs keeps the packs open that a repack has deleted, and their room on the disk. */
  renew(): void {
    if (this.#waiting.length > 0) this.#requested = Number.POSITIVE_INFINITY;
    else {
      this.#child?.stdin.end();
      this.#child = undefined;
    }
  }

  /** Ends its git after the reads under way. Later reads are refused: a git that nobody ends keeps the process running. */
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
    if (header === undefined || (header.type === 'blob' && header.size > maxObjectBytes)) {
      const request = this.#waiting.shift();
      if (header) this.#restart();
      else if (request && idLike.test(request.name)) request.reject(new MissingObjectError(request.name));
      request?.resolve(undefined);
      return undefined;
    }
    const { id, type } = header;
    const pieces: Buffer[] = [];
    return {
      push: (piece) => void pieces.push(piece),
      end: () => this.#waiting.shift()?.resolve({ id, type, content: Buffer.concat(pieces) }),
    };
  }
}

/**
 * An object is missing or cannot be read; git does not distinguish the two. Were it taken for a file that does not
 * exist, an error of the disk would remove the file.
 */
export class MissingObjectError extends Error {
  constructor(name: string) {
    super(`the object ${name} is missing or cannot be read: try again, and run "git fsck" if it stays`);
    this.name = 'MissingObjectError';
  }
}

const idLike = /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?:\^\{tree\})?$/;

/** Enough for the folders of 200,000 bots, in two versions. */
const maxTreeBytes = 32 * 1024 * 1024;

/** A git process keeps every commit it has read in memory, so it is replaced after this many requests. */
const requestsPerProcess = 100_000;

interface ObjectRequest {
  readonly name: string;
  readonly resolve: (object: GitObject | undefined) => void;
  readonly reject: (error: Error) => void;
}

const args = [...largeInPieces, 'cat-file', '--batch'];
