import { join } from 'node:path';
import type { ReadonlyCounts } from '../bot/counts.ts';
import type { BotId } from '../bot/id.ts';
import type { ReadonlyChanges } from '../catalogue/changes/change-index.ts';
import type { BranchAdvance } from '../git/branch-feed.ts';
import type { Clone } from '../git/clone.ts';
import type { Log } from '../lib/log.ts';
import { CountHistory } from './count-history.ts';
import { setEditedTimes } from './edited-times.ts';
import { createStateRef } from './state-ref.ts';
import { StateStore } from './state-store.ts';

/** The counts of a service, now and over time. */
export interface OpenCounts {
  readonly state: StateStore;
  readonly countHistory: CountHistory;
  readonly counts: ReadonlyCounts;
  /** Sets when the commits of an advance of the branch changed bots. */
  readonly setEditedTimes: (advance: BranchAdvance, changes: ReadonlyChanges) => Promise<void>;
  /** Commits the counts that are only in the journal. */
  close(): Promise<void>;
}

interface CountsOptions extends Pick<Clone, 'repositoryOpener' | 'commits'> {
  readonly config: {
    readonly var: string;
    readonly stateSeconds: number;
    readonly remote: { readonly syncSeconds: number } | null;
    readonly readOnly: object | null;
  };
  /** Called with a bot whose time of the last edit has changed. */
  readonly onEdited: (id: BotId) => void;
  readonly log: Log;
}

/** Opens the state of the bots; `state.load` reads it. */
export function openCounts({ config, repositoryOpener, commits, onEdited, log }: CountsOptions): OpenCounts {
  const state = new StateStore({
    folder: join(config.var, 'journal'),
    ref: createStateRef(repositoryOpener, log, commits),
    stateSeconds: config.stateSeconds,
    repeatSeconds: config.remote?.syncSeconds,
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
  const close = async (): Promise<void> => {
    await countHistory.close();
    await state.close();
  };
  const setTimes: OpenCounts['setEditedTimes'] = async (...what) => await setEditedTimes(state, ...what);
  return { state, countHistory, counts, setEditedTimes: setTimes, close };
}
