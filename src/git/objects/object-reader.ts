import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { BatchParser, type ObjectHeader, type ObjectSink } from './batch-parser.ts';
import { GitError } from '../process/git-error.ts';
import { largeInPieces } from '../process/settings.ts';
import { spawnGit } from '../process/spawn-git.ts';
import { largestFile } from './objects.ts';

/** An object as Git stores it. */
export interface GitObject {
  readonly id: string;
  readonly type: string;
  readonly content: Buffer;
}

/**
 * Reads objects through one `git cat-file --batch` that is kept alive: a read costs no process. It looks refs
 * up anew for every request, and finds what other processes write.
 */
export class ObjectReader {
  readonly #folder: string;
  #process: Process | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The objects that `names` (ids, refs, `<commit>:<path>`; no line breaks) stand for, undefined where there
   * is none, or a file of more than `largestFile`, which is not taken into memory.
   * @throws {MissingObjectError} for an id, or the tree of one: whoever has an id relies on its object
   * @throws {GitError} when git ends before it has answered; the next call starts another.
   */
  async read(names: readonly string[]): Promise<(GitObject | undefined)[]> {
    if (names.length === 0) return [];
    if (names.some((name) => name.includes('\n')))
      throw new RangeError('a name of an object has no line break');
    if (this.#process === undefined || this.#process.ended || this.#process.asked > requestsPerProcess) {
      this.#process?.end();
      this.#process = new Process(this.#folder);
    }
    return await this.#process.ask(names);
  }

  /** What read gives for one name. @throws {GitError} */
  async readOne(name: string): Promise<GitObject | undefined> {
    return (await this.read([name]))[0];
  }

  /** Whether there is an object of this id that can be read. @throws {GitError} */
  async has(id: string): Promise<boolean> {
    try {
      return (await this.readOne(id)) !== undefined;
    } catch (error) {
      if (error instanceof MissingObjectError) return false;
      throw error;
    }
  }

  close(): void {
    this.#process?.end();
    this.#process = undefined;
  }
}

/**
 * Git has no such object, or could not read it, which it does not tell apart: taken for a file that is not there, a fault
 * of the disk would remove it.
 */
export class MissingObjectError extends Error {
  constructor(name: string) {
    super(`the object ${name} is missing or cannot be read: try again, and run "git fsck" if it stays`);
    this.name = 'MissingObjectError';
  }
}

const reliedOn = /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?:\^\{tree\})?$/;

/** A git process remembers every commit it has seen; another takes over before that matters. */
const requestsPerProcess = 100_000;

interface Asked {
  readonly name: string;
  readonly resolve: (object: GitObject | undefined) => void;
  readonly reject: (error: Error) => void;
}

const args = [...largeInPieces, 'cat-file', '--batch'];

class Process {
  asked = 0;
  ended = false;
  readonly #folder: string;
  #child: ChildProcessWithoutNullStreams;
  readonly #waiting: Asked[] = [];

  constructor(folder: string) {
    this.#folder = folder;
    this.#child = this.#start();
  }

  async ask(names: readonly string[]): Promise<(GitObject | undefined)[]> {
    this.asked += names.length;
    const objects = names.map(
      async (name) =>
        await new Promise<GitObject | undefined>((resolve, reject) => {
          this.#waiting.push({ name, resolve, reject });
        }),
    );
    this.#child.stdin.write(`${names.join('\n')}\n`);
    return await Promise.all(objects);
  }

  end(): void {
    this.ended = true;
    this.#child.stdin.end();
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = spawnGit({ folder: this.#folder, args });
    // One that was replaced may still have something to say.
    const now = (act: () => void): void => {
      if (child === this.#child) act();
    };
    let stderr = '';
    const parser = new BatchParser((header) => this.#begin(header));
    child.on('error', (error) => now(() => this.#fail(new GitError(args, -1, error.message))));
    child.on('close', (code) => now(() => this.#fail(new GitError(args, code, stderr))));
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (chunk) => (stderr = String(chunk)));
    child.stdout.on('data', (chunk: Buffer) => now(() => parser.push(chunk)));
    return child;
  }

  #begin(header: ObjectHeader | undefined): ObjectSink | undefined {
    if (header === undefined || (header.type === 'blob' && header.size > largestFile)) {
      const asked = this.#waiting.shift();
      if (header) this.#replace();
      else if (asked && reliedOn.test(asked.name)) asked.reject(new MissingObjectError(asked.name));
      asked?.resolve(undefined);
      return undefined;
    }
    const { id, type } = header;
    const pieces: Buffer[] = [];
    return {
      push: (piece) => void pieces.push(piece),
      end: () => this.#waiting.shift()?.resolve({ id, type, content: Buffer.concat(pieces) }),
    };
  }

  /** Git would print all of a large object, which can take seconds: another git is asked for what is still awaited. */
  #replace(): void {
    this.#child.kill('SIGKILL');
    this.#child = this.#start();
    if (this.#waiting.length > 0)
      this.#child.stdin.write(this.#waiting.map(({ name }) => `${name}\n`).join(''));
    if (this.ended) this.#child.stdin.end();
  }

  #fail(error: GitError): void {
    this.ended = true;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
