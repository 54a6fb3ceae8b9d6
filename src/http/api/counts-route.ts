import type { Router } from '@koa/router';
import type { CountAt, ReadonlyCountHistory } from '../../counts/count-history.ts';
import { type ListParameter, type ParameterTexts, refuse } from '../../catalogue/lists/parameters.ts';
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
    const { from, to } = parseCountsQuery(parseQuery(ctx), countHistory.present());
    const kind = chooseType(ctx, ['application/json', 'text/csv']);
    if (!(await countHistory.isRead('all'))) {
      throw new ProblemError('starting', 'the counts over time are still being read: try again in a moment', {
        headers: { 'Retry-After': '10' },
      });
    }
    const last = Math.min(to ?? Number.POSITIVE_INFINITY, countHistory.present());
    const first = from ?? Math.max(countHistory.first(bot.id) ?? last, last - maxDays + 1);
    const body = Buffer.from(writers[kind](countHistory.counts(bot.id, first, last)));
    await send(ctx, {
      ...createDocument(kind === 'text/csv' ? 'text/csv; charset=utf-8' : kind, body),
      headers: { ...readHeaders, Vary: 'Accept, Accept-Encoding' },
    });
  });
}

/** What of a bot's counts over time is wanted, in days since the epoch. */
interface CountsQuery {
  /** The first; where left out that of the bot's first count. */
  readonly from: number | undefined;
  /** The last; where left out the one that is not over. */
  readonly to: number | undefined;
}

/** How many days a response has at most: ten years. */
const maxDays = 3660;

const msPerDay = 86_400_000;

/** A parameter that is a time. */
export const timeParameter = {
  parse: parseTime,
  schema: { type: 'string', examples: ['2026-11-22', '2026-11-22T05:00Z'] },
};

/** The parameters of GET /api/v2/bots/:id/counts. */
export const countParameters: ReadonlyMap<string, ListParameter<unknown, null>> = new Map(
  Object.entries({
    from: {
      ...timeParameter,
      description: 'The first day, or a time in it. Without it, that of the first count.',
    },
    to: { ...timeParameter, description: 'The last day. Without it, today. At most 3,660 are returned.' },
  } satisfies Record<string, ListParameter<unknown, null>>),
);

/**
 * Reads the query of GET /api/v2/bots/:id/counts.
 * @param present the day that is not over
 * @throws {ProblemError} bad-query, naming every unknown parameter and every bad value at once
 */
function parseCountsQuery(params: URLSearchParams, present: number): CountsQuery {
  const { values, errors } = readParameters(params, countParameters, null);
  const given = values as Partial<CountsQuery>;
  const [from, to] = [given.from, given.to].map((time) => time && Math.floor(time / msPerDay));
  const days = from === undefined ? 0 : (to ?? present) - from + 1;
  if (to !== undefined && days < 1 && from !== undefined)
    errors.push({ pointer: '?from', detail: 'it is after “to”: send the earlier time as “from”' });
  if (days > maxDays) {
    const detail = `there are ${days} days until the last: request at most ${maxDays} at once`;
    errors.push({ pointer: '?from', detail });
  }
  if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
  return { from, to };
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
  'application/json': (counts: readonly CountAt[]): string =>
    `[${counts.map(({ period, count }) => `{"at":"${formatDay(period)}","count":${count}}`).join(',')}]`,
  'text/csv': (counts: readonly CountAt[]): string =>
    ['at,count', ...counts.map(({ period, count }) => `${formatDay(period)},${count}`), ''].join('\r\n'),
};

/** Returns a day as `2026-11-22`. */
function formatDay(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}
