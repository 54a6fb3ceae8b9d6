import { randomFrom } from '../../support/random.ts';
import type { DiskModel } from './disk-model.ts';
import { type Change, type Inode, type Step, writeFolder } from './inode.ts';

/**
 * The state of a disk after a power loss: only what was synced; in addition all names in their order, without data, as
 * with ext4 and XFS; or, because a sync of one folder carries no other, everything up to some earlier point, some files
 * without data, as with btrfs.
 */
export const models = ['synced', 'names', 'folders'] as const;

/** A power loss in a trace. */
export interface Cut {
  readonly model: (typeof models)[number];
  /** How many steps were made. */
  readonly at: number;
  readonly seed: number;
}

/**
 * Chooses cuts at random, half of them right after a response; of the model that keeps what was synced, the others
 * right after a sync, because nothing else changes it. The same seed makes the same cuts of a trace.
 */
export function chooseCuts({ steps }: DiskModel, many: number, seed: number): Cut[] {
  const random = randomFrom(seed);
  const [responses = [], syncs = []] = ['response', 'sync'].map((wanted) =>
    steps.flatMap(({ kind }, i) => (kind === wanted ? [i + 1] : [])),
  );
  return Array.from({ length: many }, (_, i) => {
    const [isAfterResponse, where] = [random() < 0.5 && responses.length > 0, random()];
    const model = models[i % models.length] ?? 'synced';
    const points = isAfterResponse ? responses : model === 'synced' ? syncs : undefined;
    const at = points ? points[Math.floor(where * points.length)] : Math.floor(where * (steps.length + 1));
    return { model, at: at ?? 0, seed: seed + i };
  });
}

/** Writes to `path` what the disk has after a power loss. */
export function writeAfterCut(path: string, { root, steps }: DiskModel, { model, at, seed }: Cut): void {
  const random = randomFrom(seed);
  const made = steps.slice(0, at);
  const synced = new Map<Inode, Change[]>();
  const unsynced = new Map<Inode, Map<number, Change>>();
  let lastSync = 0;
  for (const [i, step] of made.entries()) {
    if (step.kind === 'sync') lastSync = Math.max(lastSync, step.since);
    if (step.kind === 'sync') sync(step);
    else if (step.kind !== 'response') changesOf(unsynced, step.inode, new Map()).set(i, step);
  }
  // Where there is one journal, a sync of anything carries the names of all.
  const first = model === 'names' ? lastSync : 0;
  const named = model === 'synced' ? 0 : first + Math.floor(random() * (at - first + 1));
  writeFolder(path, root, (inode) => {
    const hasData = model === 'folders' && random() < 0.5;
    const kept = [...(unsynced.get(inode) ?? [])].filter(
      ([i, { kind }]) => i < named && (kind !== 'write' || hasData),
    );
    return [...(synced.get(inode) ?? []), ...kept.map(([, change]) => change)];
  });

  function sync({ inode, since }: Extract<Step, { kind: 'sync' }>): void {
    for (const one of inode === undefined ? unsynced.keys() : [inode]) {
      const changes = unsynced.get(one) ?? new Map<number, Change>();
      for (const [i, change] of changes) {
        if (i >= since) continue;
        changesOf(synced, one, []).push(change);
        changes.delete(i);
      }
    }
  }
}

function changesOf<T>(map: Map<Inode, T>, inode: Inode, none: T): T {
  const found = map.get(inode) ?? none;
  map.set(inode, found);
  return found;
}
