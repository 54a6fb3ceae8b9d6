import { createHash } from 'node:crypto';
import type { Router } from '@koa/router';
import type { ListParameter } from '../../catalogue/lists/parameters.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { StateStore } from '../../counts/state-store.ts';
import type { CurrentCache } from '../../lib/current-cache.ts';
import { joinToPieces } from '../../lib/pieces.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { ProblemError } from '../problem.ts';
import { parseQuery, readParameters } from '../query.ts';
import { readHeaders, send } from '../representation.ts';
import { timeParameter } from './counts-route.ts';

/** Adds the latest counts of all listed bots, of the last seconds. */
export function addLatestCountsRoute(
  router: Router,
  bots: BotIndex,
  counts: Pick<StateStore, 'count' | 'reportedAt'>,
  cache: CurrentCache,
): void {
  const read = async (): Promise<CountsMoment> => {
    const slice = new TimeSlice();
    const all = await bots.sorted();
    const values = new Float64Array(all.length * 2);
    const hash = createHash('sha1');
    for (const [i, { id }] of all.entries()) {
      if (slice.isOver) await slice.next();
      values[2 * i] = counts.count(id) ?? 0;
      values[2 * i + 1] = counts.reportedAt(id) ?? never;
      hash.update(id);
    }
    return { all, values, digest: hash.update(values).digest('base64url') };
  };
  router.get('/api/v2/counts', async (ctx) => {
    const { values: given, errors } = readParameters(parseQuery(ctx), latestCountParameters, null);
    if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
    const since = (given['since'] as number | undefined) ?? never;
    const moment = await cache.get('counts', read);
    await send(ctx, {
      type: 'application/json',
      digest: `${moment.digest}.${since}`,
      body: { bytes: moment.values.length * 40, read: () => joinToPieces(formatCounts(moment, since)) },
      headers: { ...readHeaders, 'Cache-Control': 'public, max-age=10' },
      current: moment.current,
    });
  });
}

/** The parameters of GET /api/v2/counts. */
export const latestCountParameters: ReadonlyMap<string, ListParameter<unknown, null>> = new Map([
  [
    'since',
    {
      ...timeParameter,
      description:
        'Only counts that were reported later than this day (`2026-11-22`) or time. Without it, all.',
    },
  ],
]);

/** The counts of one moment. */
interface CountsMoment {
  readonly all: readonly IndexedBot[];
  /** Of each bot the count, then when it was reported: a million objects would take ten times the memory. */
  readonly values: Float64Array;
  readonly digest: string;
}

/** When the count of a bot without one was reported. */
const never = Number.NEGATIVE_INFINITY;

/** Yields the counts that were reported later than a time as JSON, some at a time. */
function* formatCounts({ all, values }: CountsMoment, since: number): Generator<Buffer> {
  const seconds = new Map<number, string>();
  let text = '';
  let separator = '{';
  for (let i = 0; i < all.length; i++) {
    const at = values[2 * i + 1] ?? never;
    if (at <= since) continue;
    // As toISOString does, in a tenth of the time.
    const second = Math.floor(at / 1000);
    let time = seconds.get(second);
    if (time === undefined) {
      time = new Date(second * 1000).toISOString().slice(0, 20);
      if (seconds.size < maxSeconds) seconds.set(second, time);
    }
    const milliseconds = String(1000 + at - second * 1000).slice(1);
    text += `${separator}"${all[i]?.id}":{"count":${values[2 * i]},"reportedAt":"${time}${milliseconds}Z"}`;
    separator = ',';
    if (text.length < partLength) continue;
    yield Buffer.from(text, 'latin1');
    text = '';
  }
  yield Buffer.from(separator === '{' ? '{}' : `${text}}`, 'latin1');
}

/** Characters that are formatted without a pause. */
const partLength = 4096;

/** Bots that post every half hour have fewer. */
const maxSeconds = 4000;
