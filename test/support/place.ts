import { hash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../src/lib/log.ts';
import type { StateRef, StateTree } from '../../src/counts/state-ref.ts';
import { isDayPath, mergeDays, parseDayPath } from '../../src/counts/state.ts';
import { createRefConflictError, stateRef } from '../../src/git/refs.ts';
import { StateStore, type StateStoreOptions } from '../../src/counts/state-store.ts';
import { Tokens } from '../../src/tokens/tokens.ts';
import { codeOf } from '../../src/lib/errors.ts';
import { tempFolder } from './temp-folder.ts';
import { cleanUp } from './cleanup.ts';

/** Where a state is: a journal's folder and a ref. */
export interface Place {
  readonly folder: string;
  readonly ref: MemoryRef;
}

/** A place where nothing is yet. */
export function newPlace(ref = new MemoryRef()): Place {
  return { folder: join(tempFolder(), 'var', 'journal'), ref };
}

/** The place as a crash right now would leave it, to be opened while the one who crashed still runs. */
export function crashed({ folder, ref }: Place): Place {
  const place = newPlace(new MemoryRef([...ref.history]));
  mkdirSync(place.folder, { recursive: true });
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    copy(join(folder, name), join(place.folder, name));
  return place;
}

/** Opens a store that checkpoints by itself just once, and closes when the test is over. */
export async function open(
  place: Place,
  more: Partial<Omit<StateStoreOptions, 'folder'>> = {},
): Promise<StateStore> {
  const { folder, ref } = place;
  const store = new StateStore({ folder, ref, stateSeconds: 3600, log: silentLog, ...more });
  await store.load();
  cleanUp(async () => await store.close());
  return store;
}

/** The tokens in a store, with no other machine. */
export function localTokens(store: StateStore): Tokens {
  return new Tokens(store, null, silentLog);
}

/** A failure of a ref. */
export const noGit = new Error('git is not there: install it');

/** A commit of a MemoryRef. */
interface MemoryCommit {
  readonly commit: string;
  readonly subject: string;
  readonly files: Readonly<Record<string, string>>;
}

/** A state ref in memory. Several of them with one history are several processes on one repository. */
export class MemoryRef implements StateRef {
  /** Every commit, oldest first. */
  readonly history: MemoryCommit[];
  /** How often its files were read. */
  reads = 0;
  /** Why the ref cannot be read or moved, while it cannot. */
  failure: Error | undefined;

  constructor(history: MemoryCommit[] = []) {
    this.history = history;
  }

  async read(known?: string): Promise<StateTree> {
    if (this.failure) throw this.failure;
    const { commit = null, files = {} } = this.history.at(-1) ?? {};
    const days = Object.keys(files).flatMap((path) => parseDayPath(path) ?? []);
    if (commit !== null && commit === known) return { commit, days, shards: toShards({}) };
    this.reads++;
    return { commit, days, shards: toShards(files) };
  }

  async commit(
    onto: string | null,
    files: ReadonlyMap<string, string>,
    subject: string,
  ): Promise<string | null> {
    if (this.failure) throw this.failure;
    const last = this.history.at(-1);
    const tree: Record<string, string> = { ...last?.files };
    for (const [path, text] of files) {
      const known = isDayPath(path) ? tree[path] : undefined;
      if (known === undefined) tree[path] = text;
      else tree[path] = (await mergeDays(Buffer.from(known), Buffer.from(text))) ?? known;
    }
    if ((this.history.at(-1)?.commit ?? null) !== onto) throw createRefConflictError(stateRef);
    if (JSON.stringify(tree) === JSON.stringify(last?.files ?? {})) return onto;
    const commit = hash('sha1', JSON.stringify([onto, tree, subject]));
    this.history.push({ commit, subject, files: tree });
    return commit;
  }

  peek(): string {
    return String(this.history.length);
  }
}

async function* toShards(
  files: Readonly<Record<string, string>>,
): AsyncGenerator<readonly [path: string, content: Buffer]> {
  for (const [path, text] of Object.entries(files)) if (!isDayPath(path)) yield [path, Buffer.from(text)];
}

/** Copies a file, or nothing where it has just been removed. */
function copy(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
