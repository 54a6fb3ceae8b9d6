import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { HashName } from './object-id.ts';
import { follow, type Followed, type Following, umask } from './work-tree.ts';

/** Files that are to follow in a thread, where nobody can be asked about a person's edits. */
interface Task {
  readonly files: readonly Omit<Following, 'edit'>[];
  readonly staging: string;
  readonly hash: HashName;
}

interface Done {
  /** One a file, in order, up to the one that failed. */
  readonly followed: readonly Followed[];
  readonly error?: unknown;
}

/**
 * Has files of the work tree follow in a thread of its own. While git makes a commit durable, whoever makes or renames
 * a file waits for the journal of the file system: the thread may, a service that waits answers nobody.
 */
export class WorkTreeThread {
  #worker: Worker | undefined;

  /** Says what became of each file, and of which error there was it went no further; one task at a time. */
  async follow(task: Task): Promise<Done> {
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    return await new Promise<Done>((resolve, reject) => {
      const settle = (done?: Done): void => {
        worker.off('message', settle).off('exit', ended).unref();
        if (done) resolve(done);
        else reject(new Error('the thread that writes the work tree has ended'));
      };
      const ended = (): void => settle();
      worker.on('message', settle).on('exit', ended).postMessage(task);
    });
  }

  /** Ends the thread; another task starts one again. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL(import.meta.url), { workerData: { umask } });
    // What ends it is told to who waits for it.
    worker.on('error', () => undefined);
    worker.once('exit', () => (this.#worker = undefined));
    worker.unref();
    return worker;
  }
}

async function work({ files, staging, hash }: Task): Promise<void> {
  const followed: Followed[] = [];
  let done: Done = { followed };
  try {
    for (const file of files) followed.push(await follow(withBuffer(file), staging, hash));
  } catch (error) {
    done = { followed, error };
  }
  parentPort?.postMessage(done);
}

/** On its way here a buffer has become an array of bytes. */
function withBuffer(file: Omit<Following, 'edit'>): Following {
  const { target } = file;
  if (!target?.content) return file;
  return { ...file, target: { ...target, content: Buffer.from(target.content) } };
}

if (!isMainThread) parentPort?.on('message', (task: Task) => void work(task));
