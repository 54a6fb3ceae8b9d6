import { decodeHTMLStrict } from 'entities';
import { msPerDay } from '../bot/clock.ts';
import type { Fault } from '../catalogue/page/fault.ts';
import { toAsciiAddress } from '../bot/address.ts';
import { quoteValue } from '../lib/text.ts';

/** The value of a field, without kinds that no key has: `{}` is any object or inner list. */
export type SourceValue = string | boolean | object | undefined;

/** The reason why a record is not imported, or a change in it. */
export type Refusal = Pick<Fault, 'rule' | 'message'>;

/** The keys whose values are lists of texts. */
export const listKeys = /^(?:authors|images\.preview|trigger\.prefix)$/;

/** Returns a value in the form that its key takes, if that is obvious; else as it is, so that the rules refuse it. */
export function toKeyValue(key: string, value: SourceValue): unknown {
  if (Array.isArray(value)) return key === 'authors' ? [...new Set(value)] : value;
  if (typeof value !== 'string') return value;
  if (listKeys.test(key)) return [value];
  if (key === 'created' && value === 'now') return Date.now();
  if (/^(?:created|edited)$/.test(key)) return parseDate(value) ?? value;
  if (/^(?:name|description)$/.test(key)) return value.replaceAll(/\s+/g, ' ');
  if (!/^(?:nsfw|legacy|verified|trigger\.\w+)$/.test(key)) return value;
  return /^(?:true|yes|on|1)$/i.test(value) || (/^(?:false|no|off|0)$/i.test(value) ? false : value);
}

/** Returns the fault of a value if the schemas have no good message for it, or no fault. */
export function findValueFault(key: string, value: unknown): Refusal | undefined {
  if (typeof value !== 'string') return undefined;
  const message = `${key}: ${quoteValue(value)} is not`;
  if (/^(?:created|edited)$/.test(key))
    return {
      rule: 'date',
      message: `${message} a date from 2015 to tomorrow in a certain form: write ${dateForms}`,
    };
  return key.startsWith('codehost.') && value.includes('://')
    ? { rule: 'repository', message: `${message} at github.com: write https://github.com/owner/repo` }
    : undefined;
}

/**
 * Returns names and descriptions without HTML entities, addresses in ASCII, as browsers send them, and a part of a repository's
 * address; any other value as it is.
 */
export function convertValue(key: string, value: SourceValue): SourceValue {
  if (Array.isArray(value)) return value.map((entry: SourceValue) => convertValue(key, entry));
  if (typeof value !== 'string') return value;
  if (/^(?:name|description)$/.test(key)) return decodeHTMLStrict(value);
  if (key.startsWith('codehost.')) return repository.exec(value)?.groups?.[key.slice(9)] ?? value;
  const isAddress = /^(?:invite|support|website|images\.\w+)$/.test(key);
  return isAddress && !/\s/.test(value) ? (toAsciiAddress(value) ?? value) : value;
}

/** An address of a repository, or `owner/repo`. */
const repository =
  /^(?:https?:\/\/(?:www\.)?github\.com\/)?(?<owner>[^\s:/?#]+)\/(?<repo>[^\s/?#]+?)(?:\.git)?(?:[/?#]|$)/;

/** The forms that parseDate takes, for a message. */
const dateForms =
  '2023-04-05, 2023-04-05 06:07:08 +02:00, 05.04.2023, 5 Apr 2023, or seconds or milliseconds since 1970';

/**
 * Parses a date as databases, spreadsheets and site generators write it; without a zone it is in UTC. 4/5/2023 is not one of
 * the forms, because its month and day have no certain order.
 * @returns milliseconds; undefined if the date does not exist, or is not from 2015 to tomorrow
 */
export function parseDate(text: string): number | undefined {
  if (text.length > maxDateLength) return undefined;
  const compact = /^(20\d\d)(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?$/.exec(text)?.slice(1);
  if (compact === undefined && /^\d+(?:\.\d+)?$/.test(text)) return toTimes(Number(text)).find(isPlausible);
  const [, shell = text] = /^ISODate\("(.*)"\)$/.exec(text) ?? [];
  const [end = '', hour, minute, second, fraction, half, zone] = clock.exec(shell) ?? [];
  const day = shell.slice(0, shell.length - end.length);
  const parts = compact ?? [...(parseDay(day) ?? []), hour, minute, second];
  const time = toTime(
    parts.map((part) => Number(part ?? 0)),
    half?.toLowerCase(),
  );
  if (time === undefined) return undefined;
  const [, sign, hours = 0, minutes = 0] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? '') ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  const exact = time - offset + Math.trunc(Number(`0.${fraction ?? 0}`) * 1000);
  return isPlausible(exact) ? exact : undefined;
}

const maxDateLength = 100;

const clock =
  /(?<![T, ])[T, ]+(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?([ap]m))?(?: ?(?:Z|UTC|GMT))?(?: ?([+-]\d\d(?::?\d\d)?))?(?: \([^()]*\))?$/i;

/** Returns the times that a number may be, as milliseconds, seconds, microseconds, or spreadsheet days from 1899. */
function toTimes(number: number): readonly number[] {
  return [number, number * 1000, number / 1000, (number - 25_569) * msPerDay].map(Math.round);
}

function isPlausible(time: number): boolean {
  return time >= Date.UTC(2015, 0) && time <= Date.now() + msPerDay;
}

/** Returns year, month and day. */
function parseDay(text: string): readonly (string | number)[] | undefined {
  const [, year, , month, day] = /^(\d{4})([-/.])(\d\d?)\2(\d\d?)$/.exec(text) ?? [];
  if (year !== undefined) return [year, month ?? 0, day ?? 0];
  const dotted = /^(\d\d?)\.(\d\d?)\.(\d{4})$/.exec(text)?.slice(1);
  if (dotted !== undefined) return dotted.toReversed();
  const [, weekday = text] = /^[a-z]{3,9},? (.*)$/i.exec(text) ?? [];
  for (const form of [text, weekday]) {
    const [, before, name = '', after, last = 0] = namedMonth.exec(form) ?? [];
    const month =
      months.findIndex((one) => [one, one.slice(0, 3), one.slice(0, 4)].includes(name.toLowerCase())) + 1;
    if (month > 0 && (before === undefined) !== (after === undefined))
      return [last, month, before ?? after ?? 0];
  }
  return undefined;
}

/** 5 April 2023, 05-Apr-2023 or Apr 5, 2023, in English: `marraskuu` is not taken for March. */
const namedMonth = /^(?:(\d\d?)[ -])?([a-z]{3,9})\.?[ -](?:(\d\d?),? )?(\d{4})$/i;

const months = 'january february march april may june july august september october november december'.split(
  ' ',
);

/** Returns a time in UTC; undefined if it does not exist. @param half am or pm */
function toTime(
  [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0]: readonly number[],
  half: string | undefined,
): number | undefined {
  if (half !== undefined && (hour < 1 || hour > 12)) return undefined;
  const hour24 = half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0);
  const date = new Date(Date.UTC(year, month - 1, day));
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || hour24 > 23 || minute > 59 || second > 59) return undefined;
  return date.getTime() + ((hour24 * 60 + minute) * 60 + second) * 1000;
}
