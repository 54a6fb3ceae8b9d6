import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { maxEditedLeadMs } from '../bot/clock.ts';
import type { ReadonlyCounts } from '../bot/counts.ts';
import type { BotId } from '../bot/id.ts';
import { readMainData, type ReadonlyChanges } from '../catalogue/changes/bot-changes.ts';
import { listChangedBots } from '../catalogue/changes/change-feed.ts';
import type { PageFile } from '../catalogue/page/page-file.ts';
import type { BranchAdvance } from '../git/branch/feed.ts';
import type { Clone } from '../git/branch/clone.ts';
import { type BranchStep, listMergedSteps } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import { ignoreMissing } from '../lib/errors.ts';
import type { Health } from '../lib/health.ts';
import type { Log } from '../lib/log.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { CountHistory } from './count-history.ts';
import { listSegments, replaySegment } from './journal.ts';
import { createStateRef } from './state-ref.ts';
import { StateStore } from './state-store.ts';

/** The counts of a service, now and over time. */
export interface OpenCounts {
  readonly state: StateStore;
  readonly countHistory: CountHistory;
  readonly counts: ReadonlyCounts;
  /** Sets the times of the last edits from the commits of an advance of the branch. */
  readonly setEditedTimes: (advance: BranchAdvance, changes: ReadonlyChanges) => Promise<void>;
  health(): Health;
  /** Starts to read the counts over time. In a demo it resolves once the front page can show growth. */
  start(): Promise<void>;
  /** Commits the counts that only the journal has. */
  close(): Promise<void>;
}

interface CountsOptions extends Pick<Clone, 'repositoryOpener' | 'branch'> {
  readonly config: {
    readonly var: string;
    readonly stateSeconds: number;
    readonly remote: object | null;
    readonly readOnly: object | null;
    readonly demo: object | null;
  };
  /** Called with a bot when the time of its last edit changes. */
  readonly onEdited: (id: BotId) => void;
  readonly log: Log;
}

/** Opens the state of the bots; `state.load` reads it. */
export function openCounts({ config, repositoryOpener, branch, onEdited, log }: CountsOptions): OpenCounts {
  const state = new StateStore({
    folder: join(config.var, 'journal'),
    ref: createStateRef(repositoryOpener, log, branch),
    stateSeconds: config.stateSeconds,
    isShared: config.remote !== null,
    readOnly: config.readOnly !== null,
    onEdited,
    log,
  });
  const countHistory = new CountHistory({ repositoryOpener, latest: (id) => state.latest(id), log });
  const counts = {
    get version() {
      return state.version + countHistory.version;
    },
    count: (id: BotId) => state.count(id),
    reportedAt: (id: BotId) => state.reportedAt(id),
    growth: (id: BotId) => countHistory.growth(id),
  };
  return {
    state,
    countHistory,
    counts,
    setEditedTimes: async (...what) => await setEditedTimes(state, ...what),
    health: () => {
      const failures = new Set(state.failures().map(({ message }) => message));
      const faults = [...failures, ...state.clockFaults(), ...countHistory.faults()];
      return { state: { ready: state.isLoaded, faults } };
    },
    start: async () => {
      countHistory.start();
      // The first visitor sees the complete front page.
      if (config.demo) await countHistory.isRead('recent');
    },
    close: async () => {
      await countHistory.close();
      await state.close();
    },
  };
}

/**
 * Reads the journal in a folder, also while a service runs. Returns the number of entries, the time of the oldest in
 * milliseconds since the epoch, and the first segment with damaged lines, at which it stops.
 */
export async function examineJournal(folder: string): Promise<{
  readonly entries: number;
  readonly oldest: number;
  readonly damage?: { readonly path: string; readonly lines: readonly number[] };
}> {
  let [entries, oldest] = [0, Date.now()];
  for (const path of await listSegments(folder)) {
    // A running service removes a segment once its counts are committed.
    const lines = (await ignoreMissing(replaySegment(path, () => entries++))) ?? [];
    if (lines.length > 0) return { entries, oldest, damage: { path, lines } };
    const { birthtimeMs = oldest, mtimeMs = oldest } = (await ignoreMissing(stat(path))) ?? {};
    oldest = Math.min(oldest, birthtimeMs, mtimeMs);
  }
  return { entries, oldest };
}

/**
 * Sets the times at which commits of the branch changed bots in the state, so that people need not write `edited`. A
 * commit that raises `edited` in the file itself, as a post does, or that adds or removes the bot sets nothing. A
 * service's merge sets nothing for its own side: the commits that it merges do, because people may have made some of
 * them in the clone. Every machine sets the same times, so the order in which they share their states makes no
 * difference.
 * @throws {GitError} and what went wrong with a checkpoint
 */
export async function setEditedTimes(
  state: Pick<StateStore, 'setEdited' | 'checkpoint'>,
  { repository, from: known, steps, signal }: Pick<BranchAdvance, 'repository' | 'from' | 'steps' | 'signal'>,
  index: Pick<ReadonlyChanges, 'read'>,
): Promise<void> {
  const slice = new TimeSlice('service');
  let isSet = false;
  /** Returns the bots of the own side of a service's merge. @param among the bots that are looked at; all if left out */
  const setTimes = async (
    { from, to, time }: BranchStep,
    among?: ReadonlySet<string>,
  ): Promise<ReadonlySet<string>> => {
    const merged = new Set<string>();
    if (from === null || time > Date.now() + maxEditedLeadMs) return merged;
    const { own, isMerge } = await readServiceCommit(repository, to);
    for await (const { id, what, pages } of listChangedBots(repository, from, to)) {
      signal.throwIfAborted();
      if (slice.isOver) await slice.next();
      if (what !== 'changed' || among?.has(id) === false) continue;
      if (own.has(id)) {
        if (isMerge) merged.add(id);
        continue;
      }
      const { before, after } = await index.read(id, { pages });
      const [was, is] = [readEdited(before), readEdited(after)];
      if (was !== undefined && is !== undefined && is > was) continue;
      // A time from a clock that is ahead would stay the latest one.
      state.setEdited(id, Math.min(time, Date.now()));
      isSet = true;
    }
    return merged;
  };
  for (const step of steps) {
    const merged = await setTimes(step);
    if (merged.size === 0) continue;
    for (const side of await listMergedSteps(repository, step.to, known)) await setTimes(side, merged);
  }
  if (isSet) await state.checkpoint();
}

/** Returns the bots that a commit names if a service made it, and whether it is a merge. */
async function readServiceCommit({ objects }: Repository, commit: string) {
  const text = (await objects.readOne(commit))?.content.toString() ?? '';
  const [, author, committer] = /^author (.*)\ncommitter (.*)$/m.exec(text) ?? [];
  const named = author === committer ? text.matchAll(/^Bot: (\d+)$/gm) : [];
  return {
    own: new Set(Array.from(named, ([, id = '']) => id)),
    isMerge: /^tree .*\n(?:parent .*\n){2}/.test(text),
  };
}

/** Returns `edited` of the main page among the files. */
function readEdited(files: readonly PageFile[]): number | undefined {
  const { created, edited = created } = readMainData(files);
  return typeof edited === 'number' ? edited : undefined;
}
