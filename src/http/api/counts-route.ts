import type { Router } from '@koa/router';
import { LRUCache } from 'lru-cache';
import type { CountAt, CountStep, ReadonlyCountHistory } from '../../counts/count-history.ts';
import { type ListParameter, type ParameterTexts, refuse } from '../../catalogue/lists/filters.ts';
import type { BotIndex } from '../../catalogue/store/bot-index.ts';
import { quoteValue } from '../../lib/quote-value.ts';
import { ProblemError } from '../problem.ts';
import { parseQuery, readParameters } from '../query.ts';
import { chooseType, createDocument, readHeaders, send } from '../representation.ts';
import { findKnownBot } from './read-routes.ts';

/** Adds a bot's counts over time, as JSON or CSV. */
export function addCountsRoute(router: Router, bots: BotIndex, countHistory: ReadonlyCountHistory): void {
  router.get('/api/v2/bots/:id/counts', async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const { step, from, to } = parseCountsQuery(parseQuery(ctx), (of) => countHistory.present(of));
    const kind = chooseType(ctx, ['application/json', 'text/csv']);
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
  readonly from: number | undefined;
  /** The last; where left out the one that is not over. */
  readonly to: number | undefined;
}

/** How many periods a response has at most: ten years of days. */
const maxPeriods = 3660;

/** Milliseconds. */
const lengthOf: Readonly<Record<CountStep, number>> = { hour: 3_600_000, day: 86_400_000 };

/** A parameter that is a time of the counts. */
export const timeParameter = {
  parse: parseTime,
  schema: { type: 'string', examples: ['2026-11-22', '2026-11-22T05:00Z'] },
};

/** The parameters of GET /api/v2/bots/:id/counts. */
export const countParameters: ReadonlyMap<string, ListParameter<unknown, null>> = new Map(
  Object.entries({
    from: {
      ...timeParameter,
      description:
        'The first day (`2026-11-22`) or hour (`2026-11-22T05:00Z`). Without it, that of the first count.',
    },
    to: { ...timeParameter, description: 'The last day or hour. Without it, the one that is not over.' },
    step: {
      parse: ([text]) =>
        text === 'hour' || text === 'day'
          ? text
          : refuse(`${quoteValue(text)} is not a step: send hour or day`),
      description: '`day` or `hour`. Without it, `day`. At most 3,660 are returned.',
      schema: { type: 'string', enum: ['hour', 'day'] },
    },
  } satisfies Record<string, ListParameter<unknown, null>>),
);

/**
 * Reads the query of GET /api/v2/bots/:id/counts.
 * @param present the period of a step that is not over
 * @throws {ProblemError} bad-query, naming every unknown parameter and every bad value at once
 */
function parseCountsQuery(params: URLSearchParams, present: (step: CountStep) => number): CountsQuery {
  const { values, errors } = readParameters(params, countParameters, null);
  const { step = 'day', ...given } = values as Partial<CountsQuery>;
  const toPeriod = (time?: number): number | undefined =>
    time === undefined ? undefined : Math.floor(time / lengthOf[step]);
  const [from, to] = [toPeriod(given.from), toPeriod(given.to)];
  const periods = from === undefined ? 0 : (to ?? present(step)) - from + 1;
  if (to !== undefined && periods < 1 && from !== undefined)
    errors.push({ pointer: '?from', detail: 'it is after “to”: send the earlier time as “from”' });
  if (periods > maxPeriods) {
    const detail = `there are ${periods} ${step}s until the last: request at most ${maxPeriods} at once`;
    errors.push({ pointer: '?from', detail });
  }
  if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
  return { step, from, to };
}

/** Returns milliseconds since the epoch. Refuses what is no such time, as the 30th of February. */
function parseTime([text]: ParameterTexts): number {
  const match = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z)?$/.exec(text);
  const time = match === null ? Number.NaN : Date.parse(text);
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(match?.[1] ?? '')) return time;
  return refuse(
    `${quoteValue(text)} is not a time: send a day such as 2026-11-22, or a time in UTC such as 2026-11-22T05:00Z`,
  );
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
