import type { Hour } from './hour-files.ts';
import { findLastOfPeriods, secondsPerHour, type PastState } from './timeline.ts';

/** The end of a period. */
export interface Moment {
  /** Since the epoch. */
  readonly period: number;
  /** What the tree of its last commit was: the counts are others only if this is. */
  readonly tree: string;
}

/** Where the counts at one or more moments, ascending, are read from. */
export interface Span {
  readonly tree: string;
  /** Whether they are in the tree's files of hours; else they are the tree's own, at one moment. */
  readonly inFiles: boolean;
  readonly moments: readonly Moment[];
}

/** The hours that the trees of pruned commits keep in files, by tree. */
export type HourIndexes = ReadonlyMap<string, readonly Hour[]>;

/** The tree that a commit had before it was given the hours of its day. */
export function findOwnTree({ tree }: PastState, indexes: HourIndexes): string {
  return indexes.get(tree)?.at(-1)?.tree ?? tree;
}

/**
 * Returns the last commit of each period as spans, ascending.
 * @param history newest first
 * @param seconds the length of a period
 */
export function listSpans(history: readonly PastState[], seconds: number, indexes: HourIndexes): Span[] {
  return [...findLastOfPeriods(history, seconds)].map(([period, commit]) => ({
    tree: commit.tree,
    inFiles: false,
    moments: [{ period, tree: findOwnTree(commit, indexes) }],
  }));
}

/** The same for hours, with those whose commits went and that are kept in files. */
export function listHourSpans(history: readonly PastState[], indexes: HourIndexes): Span[] {
  const spans = new Map(
    listSpans(history, secondsPerHour, indexes).map((span) => [span.moments[0]?.period ?? 0, span]),
  );
  for (const { tree, time } of history.toSorted((a, b) => a.time - b.time)) {
    for (const { hour, tree: own } of indexes.get(tree) ?? []) {
      if (hour >= Math.floor(time / secondsPerHour) || spans.get(hour)?.inFiles === false) continue;
      spans.set(hour, { tree, inFiles: true, moments: [{ period: hour, tree: own }] });
    }
  }
  const inOrder = [...spans].toSorted(([a], [b]) => a - b).map(([, span]) => span);
  return inOrder.reduce<Span[]>((joined, span) => {
    const last = joined.at(-1);
    if (span.inFiles && last?.inFiles && last.tree === span.tree)
      joined[joined.length - 1] = { ...last, moments: [...last.moments, ...span.moments] };
    else joined.push(span);
    return joined;
  }, []);
}
