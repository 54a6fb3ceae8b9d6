import type { Router } from '@koa/router';
import { LRUCache } from 'lru-cache';
import type { CountAt, CountStep, ReadonlyCountHistory } from '../../counts/count-history.ts';
import type { BotIndex } from '../../catalogue/store/bot-index.ts';
import { quoteValue } from '../../lib/quote-value.ts';
import { ProblemError, type ProblemDetail } from '../problem.ts';
import { parseQuery } from '../query.ts';
import { createDocument, readHeaders, send } from '../representation.ts';
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

/** What of a bot's counts over time is wanted; the periods are hours or days since the epoch. */
interface CountsQuery {
  readonly step: CountStep;
  /** The first; where left out that of the bot's first count. */
  readonly from?: number;
  /** The last; where left out the one that is not over. */
  readonly to?: number;
}

/** How many periods a response has at most: ten years of days. */
const maxPeriods = 3660;

/** Milliseconds. */
const lengthOf: Readonly<Record<CountStep, number>> = { hour: 3_600_000, day: 86_400_000 };

/**
 * Reads the query of GET /api/v2/bots/:id/counts.
 * @param present the period of a step that is not over
 * @throws {ProblemError} bad-query, naming every unknown parameter and every bad value at once
 */
function parseCountsQuery(params: URLSearchParams, present: (step: CountStep) => number): CountsQuery {
  const errors: ProblemDetail[] = [];
  const refuse = (name: string, detail: string): void =>
    void errors.push({ pointer: `?${name.slice(0, 50)}`, detail });
  for (const name of new Set(params.keys())) {
    if (!names.includes(name)) refuse(name, `there is no such parameter: use ${names.join(', ')}`);
    else if (params.getAll(name).length > 1) refuse(name, 'it is there more than once: send it once');
  }
  const text = params.get('step') ?? 'day';
  const step: CountStep = text === 'hour' ? 'hour' : 'day';
  if (text !== step) refuse('step', `${quoteValue(text)} is not a step: send hour or day`);
  const periodOf = (name: 'from' | 'to'): number | undefined => {
    const value = params.get(name);
    const time = value === null ? undefined : parseTime(value);
    if (value !== null && time === undefined)
      refuse(
        name,
        `${quoteValue(value)} is not a time: send a day such as 2026-11-22, or a time in UTC such as 2026-11-22T05:00Z`,
      );
    return time === undefined ? undefined : Math.floor(time / lengthOf[step]);
  };
  const [from, to] = [periodOf('from'), periodOf('to')];
  const periods = from === undefined ? 0 : (to ?? present(step)) - from + 1;
  if (to !== undefined && periods < 1 && from !== undefined)
    refuse('from', 'it is after “to”: send the earlier time as “from”');
  if (periods > maxPeriods)
    refuse('from', `there are ${periods} ${step}s until the last: request at most ${maxPeriods} at once`);
  if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
  return { step, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

const names = ['from', 'to', 'step'];

/** Milliseconds since the epoch; undefined for what is no such time, as the 30th of February. */
function parseTime(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z)?$/.exec(text);
  const time = match === null ? Number.NaN : Date.parse(text);
  if (Number.isNaN(time)) return undefined;
  return new Date(time).toISOString().startsWith(match?.[1] ?? '') ? time : undefined;
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
