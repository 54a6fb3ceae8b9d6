import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { silentLog } from '../../src/lib/log.ts';
import { StateStore, type StateStoreOptions } from '../../src/counts/state-store.ts';
import { Tokens } from '../../src/tokens/tokens.ts';
import { codeOf } from '../../src/lib/errors.ts';
import { tempFolder } from './temp-folder.ts';
import { FileRef } from './file-ref.ts';
import { cleanUp } from './cleanup.ts';

/** Where a state is: a journal's folder and a ref. */
export interface Place {
  readonly folder: string;
  readonly refPath: string;
  readonly ref: FileRef;
}

/** A place where nothing is yet. */
export function newPlace(): Place {
  const root = tempFolder();
  const refPath = join(root, 'ref');
  return { folder: join(root, 'var', 'journal'), refPath, ref: new FileRef(refPath) };
}

/** The place as a crash right now would leave it, to be opened while the one who crashed still runs. */
export function crashed({ folder, refPath }: Place): Place {
  const place = newPlace();
  mkdirSync(place.folder, { recursive: true });
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    copy(join(folder, name), join(place.folder, name));
  copy(refPath, place.refPath);
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

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setTimeout(5);
}

/** A state ref that cannot be had while `broken`. */
export class BrokenRef extends FileRef {
  broken = true;
  reason = new Error('git is not there: install it');

  override async read(known?: string): ReturnType<FileRef['read']> {
    this.#check();
    return await super.read(known);
  }

  override async commit(...args: Parameters<FileRef['commit']>): ReturnType<FileRef['commit']> {
    this.#check();
    return await super.commit(...args);
  }

  #check(): void {
    if (this.broken) throw this.reason;
  }
}

/** Copies a file, or nothing where it has just been removed. */
function copy(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
