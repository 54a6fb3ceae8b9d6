import { createHash, hash } from 'node:crypto';
import type { Router } from '@koa/router';
import { msPerDay } from '../../bot/clock.ts';
import { compareBotIds } from '../../bot/id.ts';
import { idsParameter, type QueryTable, refuse } from '../../catalogue/lists/parameters.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { CountHistory, ReadonlyCountHistory } from '../../counts/count-history.ts';
import type { OpenCounts } from '../../counts/counts.ts';
import type { Current, CurrentCache } from '../../lib/current-cache.ts';
import { quoteValue, joinToPieces } from '../../lib/text.ts';
import { forEachInSlices, TimeSlice } from '../../lib/time-slice.ts';
import type { ClientPlaces } from '../limits.ts';
import { ProblemError } from '../problem.ts';
import { chooseType, createDocument, createJson, readHeaders, send } from '../representation.ts';
import { parseQuery, readParameters, readQuery } from '../request.ts';
import { createDataHeaders } from './openapi.ts';
import { findBot, refuseQuery, pickBots } from './read-routes.ts';

type LatestCounts = Pick<OpenCounts['state'], 'count' | 'reportedAt'>;

/** Adds a bot's latest count, as libraries post it, and its counts over time, as JSON or CSV. */
export function addCountsRoute(
  router: Router,
  bots: BotIndex,
  counts: LatestCounts,
  countHistory: ReadonlyCountHistory,
): void {
  router.get('/api/v2/bots/:id/stats', refuseQuery, async (ctx) => {
    const { bot, current: isSame } = findBot(ctx, bots);
    const [count, at] = [counts.count(bot.id), counts.reportedAt(bot.id)];
    const countedAt = at === undefined ? null : new Date(at).toISOString();
    const current = (): boolean =>
      isSame() && counts.count(bot.id) === count && counts.reportedAt(bot.id) === at;
    await send(ctx, { ...createJson({ server_count: count ?? null, countedAt }), current });
  });
  router.get('/api/v2/bots/:id/counts', async (ctx) => {
    const { bot } = findBot(ctx, bots);
    const { from, to } = parseDays(parseQuery(ctx), maxDays, countHistory.present());
    const kind = chooseType(ctx, ['application/json', 'text/csv']);
    await ensureRead(countHistory);
    const last = Math.min(to ?? Number.POSITIVE_INFINITY, countHistory.present());
    const first = from ?? Math.max(countHistory.first(bot.id) ?? last, last - maxDays + 1);
    const rows = countHistory
      .counts(bot.id, first, last)
      .map(({ period, count }) => ({ at: formatDay(period), count }));
    const text =
      kind === 'text/csv'
        ? ['at,count', ...rows.map(({ at, count }) => `${at},${count}`), ''].join('\r\n')
        : JSON.stringify(rows);
    await send(ctx, {
      ...createDocument(withCharset(kind), Buffer.from(text)),
      headers: { ...readHeaders, Vary: 'Accept, Accept-Encoding' },
    });
  });
}

/** @throws {ProblemError} starting, until the counts of all days were read */
async function ensureRead(countHistory: Pick<ReadonlyCountHistory, 'isRead'>): Promise<void> {
  if (await countHistory.isRead('all')) return;
  throw new ProblemError('starting', 'the counts over time are still being read: try again in a moment', {
    headers: { 'Retry-After': '10' },
  });
}

/** States the encoding of text. */
function withCharset(type: string): string {
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}

/** The maximum number of days in a response: ten years. */
const maxDays = 3660;

/** The parameters of counts over time. */
const dayParameters = { from: { parse: parseTime }, to: { parse: parseTime } } satisfies QueryTable;

/**
 * Reads the requested part of counts over time, in days since the epoch; undefined for a parameter that was left out.
 * @param max how many days may be requested
 * @param present the day that is not over
 * @throws {ProblemError} bad-query, naming every unknown parameter and every bad value at once
 */
function parseDays(params: URLSearchParams, max: number, present: number) {
  const { values, errors } = readParameters(params, dayParameters, null);
  const [from, to] = [values.from, values.to].map((time) => time && Math.floor(time / msPerDay));
  const days = from === undefined ? 0 : (to ?? present) - from + 1;
  if (to !== undefined && days < 1 && from !== undefined)
    errors.push({ pointer: '?from', detail: 'it is after “to”: send the earlier time as “from”' });
  if (days > max) {
    const detail = `there are ${days} days until the last: request at most ${max} together`;
    errors.push({ pointer: '?from', detail });
  }
  if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
  return { from, to };
}

/** Returns milliseconds since the epoch. Refuses invalid times, such as the 30th of February. */
function parseTime([text = '']: readonly string[]): number {
  // In a query, + is a blank unless it is written as %2B.
  const utc = text.replace(/[+ ]00:00$/, 'Z');
  const match = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z)?$/.exec(utc);
  const time = match === null ? Number.NaN : Date.parse(utc);
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(match?.[1] ?? '')) return time;
  return refuse(
    `${quoteValue(text)} is not a time: send a day such as 2026-11-22, or a time in UTC such as 2026-11-22T05:00Z`,
  );
}

/** Returns a day as `2026-11-22`. */
function formatDay(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}

interface CountHistoryRouteParts {
  readonly bots: BotIndex;
  readonly countHistory: Pick<CountHistory, 'files' | 'isRead' | 'present' | 'readDays'>;
  /** For responses that are sent for long. */
  readonly places: ClientPlaces;
  readonly cache: CurrentCache;
  readonly settings: () => Pick<CatalogueSettings, 'license'>;
}

/** Adds the counts over time of all listed bots, a line for each day and bot. */
export function addCountHistoryRoute(router: Router, parts: CountHistoryRouteParts): void {
  const { bots, countHistory, places, cache, settings } = parts;
  const listIds = async () => {
    const all = await bots.sorted();
    const hash = createHash('sha1');
    await forEachInSlices(all, ({ id }) => void hash.update(id));
    return { all, digest: hash.digest('base64url') };
  };
  router.get(['/api/v2/counts/history.ndjson', '/api/v2/counts/history.csv'], async (ctx) => {
    const present = countHistory.present();
    const query = parseDays(parseQuery(ctx), maxHistoryDays, present);
    const { to = present, from = to - defaultHistoryDays } = query;
    places.take(ctx);
    await ensureRead(countHistory);
    const files = countHistory.files(from, to);
    const { all, digest } = await cache.get('ids', listIds);
    const type = ctx.path.endsWith('.csv') ? 'text/csv' : 'application/x-ndjson';
    const key = [digest, type, ...files.map(({ period, id }) => `${period} ${id}`)].join();
    await send(ctx, {
      type: withCharset(type),
      digest: hash('sha1', key, 'base64url'),
      body: {
        bytes: Number.POSITIVE_INFINITY,
        read: () => joinToPieces(formatDays(countHistory.readDays(files), all, dayFormats[type])),
      },
      headers: createDataHeaders(settings().license),
    });
  });
}

/** A year; all counts of a day are a megabyte for 40,000 bots. */
const maxHistoryDays = 366;

const defaultHistoryDays = 30;

/** How counts are written: a row for each, and what is before the first, between two and after the last. */
interface RowFormat<Values extends readonly unknown[]> {
  readonly row: (...values: Values) => string;
  readonly begin?: string;
  readonly separator?: string;
  readonly end?: string;
}

type DayFormat = RowFormat<[at: string, id: string, count: number]>;

const dayFormats: Readonly<Record<'application/x-ndjson' | 'text/csv', DayFormat>> = {
  'application/x-ndjson': { row: (at, id, count) => `{"at":"${at}","id":"${id}","count":${count}}\n` },
  'text/csv': { begin: 'at,id,count\r\n', row: (at, id, count) => `${at},${id},${count}\r\n` },
};

/** Yields the counts of listed bots, some at a time. @param all the listed ones, in the order of the ids */
async function* formatDays(
  days: ReturnType<CountHistory['readDays']>,
  all: readonly IndexedBot[],
  { begin = '', row }: DayFormat,
): AsyncGenerator<Buffer> {
  const slice = new TimeSlice();
  let text = begin;
  for await (const { period, counts } of days) {
    const at = formatDay(period);
    let next = 0;
    for (const some of counts) {
      if (slice.isOver) await slice.next();
      for (const [id, count] of some) {
        let listed = all[next];
        while (listed && compareBotIds(listed.id, id) < 0) listed = all[++next];
        if (listed?.id === id) text += row(at, id, count);
      }
      if (text.length < partLength) continue;
      yield Buffer.from(text, 'latin1');
      text = '';
    }
  }
  yield Buffer.from(text, 'latin1');
}

/** Adds the latest counts of listed bots: of all from the last seconds, of those in `ids` the current ones. */
export function addLatestCountsRoute(
  router: Router,
  bots: BotIndex,
  counts: LatestCounts,
  cache: CurrentCache,
  settings: () => Pick<CatalogueSettings, 'license'>,
): void {
  const read = async (all: readonly IndexedBot[]): Promise<CountsMoment> => {
    const slice = new TimeSlice();
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
  router.get(['/api/v2/counts', '/api/v2/counts.csv'], async (ctx) => {
    const { since = never, ids } = readQuery(parseQuery(ctx), latestCountParameters);
    const kind = ctx.path.endsWith('.csv')
      ? 'text/csv'
      : chooseType(ctx, Object.keys(countFormats) as (keyof typeof countFormats)[]);
    const moment: CountsMoment & Partial<Current> = ids
      ? await read(pickBots(ctx, bots, ids))
      : await cache.get('counts', async () => await read(await bots.sorted()));
    const readCounts = (): AsyncIterable<Buffer> =>
      joinToPieces(formatCounts(moment, since, countFormats[kind]));
    await send(ctx, {
      type: withCharset(kind),
      digest: hash('sha1', `${moment.digest} ${since} ${kind}`, 'base64url'),
      body: { bytes: moment.values.length * 40, read: readCounts },
      headers: {
        ...createDataHeaders(settings().license),
        ...(ids === undefined && { 'Cache-Control': 'public, max-age=10' }),
        Vary: 'Accept, Accept-Encoding',
      },
      ...(moment.current && { current: moment.current }),
    });
  });
}

/** The parameters of GET /api/v2/counts. */
const latestCountParameters = { since: { parse: parseTime }, ids: idsParameter } satisfies QueryTable;

/** The counts of one moment. */
interface CountsMoment {
  readonly all: readonly IndexedBot[];
  /** For each bot the count, then the time of its report: a million objects would take ten times the memory. */
  readonly values: Float64Array;
  readonly digest: string;
}

/** The time of the report for a bot without a count. */
const never = Number.NEGATIVE_INFINITY;

type CountFormat = RowFormat<[id: string, count: number, at: string]>;

const countFormats = {
  'application/json': {
    begin: '{',
    row: (id, count, at) => `"${id}":{"count":${count},"reportedAt":"${at}"}`,
    separator: ',',
    end: '}',
  },
  'application/x-ndjson': {
    row: (id, count, at) => `{"id":"${id}","count":${count},"reportedAt":"${at}"}\n`,
  },
  'text/csv': { begin: 'id,count,reportedAt\r\n', row: (id, count, at) => `${id},${count},${at}\r\n` },
} satisfies Readonly<Record<string, CountFormat>>;

/** Yields the counts that were reported later than a time, some at a time. */
function* formatCounts(
  { all, values }: CountsMoment,
  since: number,
  { begin = '', row, separator = '', end = '' }: CountFormat,
): Generator<Buffer> {
  const seconds = new Map<number, string>();
  let text = begin;
  let isFirst = true;
  for (let i = 0; i < all.length; i++) {
    const at = values[2 * i + 1] ?? never;
    if (at <= since) continue;
    // Formats as toISOString does, in a tenth of the time.
    const second = Math.floor(at / 1000);
    let time = seconds.get(second);
    if (time === undefined) {
      time = new Date(second * 1000).toISOString().slice(0, 20);
      if (seconds.size < maxSeconds) seconds.set(second, time);
    }
    const milliseconds = String(1000 + at - second * 1000).slice(1);
    if (!isFirst) text += separator;
    text += row(all[i]?.id ?? '', values[2 * i] ?? 0, `${time}${milliseconds}Z`);
    isFirst = false;
    if (text.length < partLength) continue;
    yield Buffer.from(text, 'latin1');
    text = '';
  }
  yield Buffer.from(text + end, 'latin1');
}

/** Characters that are formatted without a pause. */
const partLength = 4096;

/** Bots that post every half hour have fewer. */
const maxSeconds = 4000;
