import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { GitError } from './process/git-error.ts';
import { largeInPieces } from './process/settings.ts';
import { spawnGit } from './process/spawn-git.ts';
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
  #chunks: Buffer[] = [];
  #length = 0;
  /** So many bytes must be there before it is worth looking again. */
  #needed = 1;
  #stderr = '';

  constructor(folder: string) {
    this.#folder = folder;
    this.#child = this.#start();
  }

  async ask(names: readonly string[]): Promise<(GitObject | undefined)[]> {
    this.asked += names.length;
    const answers = names.map(
      async (name) =>
        await new Promise<GitObject | undefined>((resolve, reject) => {
          this.#waiting.push({ name, resolve, reject });
        }),
    );
    this.#child.stdin.write(`${names.join('\n')}\n`);
    return await Promise.all(answers);
  }

  end(): void {
    this.ended = true;
    this.#child.stdin.end();
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = spawnGit({ folder: this.#folder, args });
    // One that another has taken over from may still have something to say.
    const now = (act: () => void): void => {
      if (child === this.#child) act();
    };
    child.on('error', (error) => now(() => this.#fail(new GitError(args, -1, error.message))));
    child.on('close', (code) => now(() => this.#fail(new GitError(args, code, this.#stderr))));
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (chunk) => now(() => (this.#stderr = String(chunk))));
    child.stdout.on('data', (chunk: Buffer) => now(() => this.#take(chunk)));
    return child;
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return;
    let bytes = Buffer.concat(this.#chunks);
    for (;;) {
      const answer = parseAnswer(bytes);
      if (typeof answer === 'number') {
        if (isLargeFile(bytes)) {
          this.#goOnWithoutFirst();
          return;
        }
        this.#needed = answer;
        break;
      }
      bytes = bytes.subarray(answer.length);
      const asked = this.#waiting.shift();
      if (asked && answer.object === undefined && reliedOn.test(asked.name))
        asked.reject(new MissingObjectError(asked.name));
      else asked?.resolve(answer.object);
    }
    this.#chunks = [bytes];
    this.#length = bytes.length;
  }

  /** Git would print all of the object, which can take seconds: another git answers what else was asked. */
  #goOnWithoutFirst(): void {
    this.#waiting.shift()?.resolve(undefined);
    this.#child.kill('SIGKILL');
    this.#chunks = [];
    this.#length = 0;
    this.#needed = 1;
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

function isLargeFile(bytes: Buffer): boolean {
  const [, digits] = /^[0-9a-f]+ blob (\d+)\n/.exec(bytes.toString('latin1', 0, 100)) ?? [];
  return Number(digits ?? 0) > largestFile;
}

/** The first answer in `bytes` and its length there; or how many bytes it takes to know more. */
export function parseAnswer(bytes: Buffer): { object: GitObject | undefined; length: number } | number {
  const end = bytes.indexOf(10);
  if (end === -1) return bytes.length + 1;
  const header = bytes.toString('utf8', 0, end);
  const [, id, type, digits] = /^([0-9a-f]+) ([a-z]+) (\d+)$/.exec(header) ?? [];
  if (id === undefined || type === undefined) return { object: undefined, length: end + 1 };
  const length = end + 1 + Number(digits) + 1;
  if (bytes.length < length) return length;
  return { object: { id, type, content: Buffer.from(bytes.subarray(end + 1, length - 1)) }, length };
}
