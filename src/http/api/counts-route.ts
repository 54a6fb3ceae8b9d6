import type { Router } from '@koa/router';
import { LRUCache } from 'lru-cache';
import type { CountAt, CountStep, ReadonlyCountHistory } from '../../counts/count-history.ts';
import type { BotIndex } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../problem.ts';
import { parseQuery } from '../query.ts';
import { createDocument, readHeaders, send } from '../representation.ts';
import { lengthOf, maxPeriods, parseCountsQuery } from './counts-query.ts';
import { findKnownBot } from './read-routes.ts';

/** Adds a bot's counts over time, as JSON or CSV. */
export function addCountsRoute(router: Router, bots: BotIndex, countHistory: ReadonlyCountHistory): void {
  router.get('/api/v2/bots/:id/counts', async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const { step, from, to } = parseCountsQuery(parseQuery(ctx), (of) => countHistory.present(of));
    const kind = ctx.accepts('application/json', 'text/csv');
    if (kind !== 'application/json' && kind !== 'text/csv') {
      throw new ProblemError(
        'not-acceptable',
        'this resource is available as application/json and text/csv: accept one of them, or */*',
      );
    }
    if (!(await countHistory.isRead())) {
      throw new ProblemError('starting', 'the counts over time are still being read: try again in a moment', {
        headers: { 'Retry-After': '10' },
      });
    }
    const stamp = countHistory.stamp(bot.id, step);
    const last = Math.min(to ?? Number.POSITIVE_INFINITY, countHistory.present(step));
    const first = from ?? Math.max(countHistory.first(bot.id, step) ?? last, last - maxPeriods + 1);
    const body = Buffer.from(writers[kind](countHistory.counts(bot.id, step, first, last), step));
    await send(ctx, {
      ...createDocument(kind === 'text/csv' ? 'text/csv; charset=utf-8' : kind, body),
      headers: { ...readHeaders, Vary: 'Accept, Accept-Encoding' },
      current: () => bots.get(bot.id) === bot && countHistory.stamp(bot.id, step) === stamp,
    });
  });
}

const writers = {
  'application/json': (counts: readonly CountAt[], step: CountStep): string =>
    `[${counts.map(({ period, count }) => `{"at":"${formatPeriodStart(period, step)}","count":${count}}`).join(',')}]`,
  'text/csv': (counts: readonly CountAt[], step: CountStep): string =>
    [
      'at,count',
      ...counts.map(({ period, count }) => `${formatPeriodStart(period, step)},${count}`),
      '',
    ].join('\r\n'),
};

/** Returns when a period begins: `2026-11-22` or `2026-11-22T05:00Z`. */
function formatPeriodStart(period: number, step: CountStep): string {
  const known = times[step].get(period);
  if (known !== undefined) return known;
  const text = new Date(period * lengthOf[step]).toISOString();
  const time = step === 'day' ? text.slice(0, 10) : `${text.slice(0, 16)}Z`;
  times[step].set(period, time);
  return time;
}

/** Bots have the same periods, and most of a response's time would go into writing them. */
const times = {
  day: new LRUCache<number, string>({ max: 4000 }),
  hour: new LRUCache<number, string>({ max: 4000 }),
};
