import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import type { StateRef, StateTree } from '../../src/counts/state-ref.ts';
import { isDayPath, mergeDays, parseDayPath } from '../../src/counts/state.ts';
import { createRefConflictError, stateRef } from '../../src/git/refs.ts';

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
    if (last !== undefined && last.commit === known)
      return { commit: known, days: toDays(last), shards: toShards([]) };
    this.reads++;
    const files = Object.entries(last?.files ?? {}).filter(([path]) => !isDayPath(path));
    return { commit: last?.commit ?? null, days: toDays(last), shards: toShards(files) };
  }

  async commit(
    onto: string | null,
    files: ReadonlyMap<string, string>,
    subject: string,
  ): Promise<string | null> {
    const history = this.history();
    const last = history.at(-1);
    const tree: Record<string, string> = { ...last?.files };
    for (const [path, text] of files) {
      const known = isDayPath(path) ? tree[path] : undefined;
      if (known === undefined) tree[path] = text;
      else tree[path] = (await mergeDays(Buffer.from(known), Buffer.from(text))) ?? known;
    }
    if ((this.history().at(-1)?.commit ?? null) !== onto) throw createRefConflictError(stateRef);
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

function toDays(commit: FileCommit | undefined): number[] {
  return Object.keys(commit?.files ?? {}).flatMap((path) => parseDayPath(path) ?? []);
}

async function* toShards(
  files: readonly (readonly [path: string, text: string])[],
): AsyncGenerator<readonly [path: string, content: Buffer]> {
  for (const [path, text] of files) yield [path, Buffer.from(text)];
}
