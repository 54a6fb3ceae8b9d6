import type { CountStep } from '../../counts/count-history.ts';
import { quoteValue } from '../../catalogue/page/fault.ts';
import { ProblemError, type ProblemDetail } from '../problem.ts';

/** What of a bot's counts over time is wanted; the periods are hours or days since the epoch. */
export interface CountsQuery {
  readonly step: CountStep;
  /** The first; where left out that of the bot's first count. */
  readonly from?: number;
  /** The last; where left out the one that is not over. */
  readonly to?: number;
}

/** How many periods a response has at most: ten years of days. */
export const maxPeriods = 3660;

/** Milliseconds. */
export const lengthOf: Readonly<Record<CountStep, number>> = { hour: 3_600_000, day: 86_400_000 };

/**
 * Reads the query of GET /api/v2/bots/:id/counts.
 * @param present the period of a step that is not over
 * @throws {ProblemError} bad-query, naming every unknown parameter and every bad value at once
 */
export function parseCountsQuery(params: URLSearchParams, present: (step: CountStep) => number): CountsQuery {
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
