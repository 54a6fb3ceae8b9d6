import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import type { StateRef, StateTree } from '../../src/counts/state-ref.ts';
import { isDayPath } from '../../src/counts/state.ts';
import { createRefConflictError, stateRef } from '../../src/git/repository.ts';

/** A commit of a FileRef. */
export interface FileCommit {
  readonly commit: string;
  readonly subject: string;
  readonly files: Readonly<Record<string, string>>;
}

/**
 * A state ref in a file of its own: one line of JSON a commit. Several of them on one file are several
 * processes on one repository.
 */
export class FileRef implements StateRef {
  readonly #path: string;
  /** How often its files were read. */
  reads = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Every commit, oldest first. */
  history(): FileCommit[] {
    try {
      return readFileSync(this.#path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as FileCommit);
    } catch {
      return [];
    }
  }

  async read(known?: string): Promise<StateTree> {
    const last = this.history().at(-1);
    if (last !== undefined && last.commit === known) return { commit: known, shards: toShards([]) };
    this.reads++;
    const files = Object.entries(last?.files ?? {}).filter(([path]) => !isDayPath(path));
    return { commit: last?.commit ?? null, shards: toShards(files) };
  }

  async commit(
    onto: string | null,
    files: ReadonlyMap<string, string>,
    subject: string,
  ): Promise<string | null> {
    const history = this.history();
    const last = history.at(-1);
    if ((last?.commit ?? null) !== onto) throw createRefConflictError(stateRef);
    const added = [...files].filter(([path]) => !isDayPath(path) || last?.files[path] === undefined);
    const tree = { ...last?.files, ...Object.fromEntries(added) };
    if (JSON.stringify(tree) === JSON.stringify(last?.files ?? {})) return onto;
    const commit = createHash('sha1')
      .update(JSON.stringify([onto, tree, subject]))
      .digest('hex');
    this.#write([...history, { commit, subject, files: tree }]);
    return commit;
  }

  peek(): string {
    const stats = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
  }

  #write(history: readonly FileCommit[]): void {
    const file = openSync(`${this.#path}.new`, 'w');
    writeSync(file, history.map((commit) => `${JSON.stringify(commit)}\n`).join(''));
    fsyncSync(file);
    closeSync(file);
    renameSync(`${this.#path}.new`, this.#path);
  }
}

async function* toShards(
  files: readonly (readonly [path: string, text: string])[],
): AsyncGenerator<readonly [path: string, content: Buffer]> {
  for (const [path, text] of files) yield [path, Buffer.from(text)];
}
