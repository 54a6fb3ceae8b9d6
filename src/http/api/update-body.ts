import { resolveProperties, readSchema } from '../../bot/schemas.ts';
import type { Category, UpdateValues } from '../../bot/schema-types.ts';
import { validate } from '../../catalogue/page/schema.ts';
import { readStrictJson } from '../../lib/strict-json.ts';
import { findPosition } from '../../catalogue/page/fault.ts';
import { quoteValue } from '../../lib/quote-value.ts';
import { ProblemError, type ProblemDetail } from '../problem.ts';

/**
 * Reads the body of an update: `{"bot": {…}}`, or flat `{"bot.count": 156}`.
 * @param categories those that a bot can have
 * @param editAdvice how to change the other keys: what follows "it cannot be changed here: "
 * @throws {ProblemError} bad-json or invalid-update, with every error at once
 */
export function parseUpdate(
  text: string,
  categories: readonly Category[],
  editAdvice: () => string,
): UpdateValues {
  if (text.trim() === '') throw new ProblemError('bad-json', emptyAdvice);
  if (isCrowded(text)) throw createInvalidError([{ pointer: '#', detail: crowdedAdvice }]);
  const read = readStrictJson(text.replace(byteOrderMark, ''), 'the body');
  if ('faults' in read) {
    if (read.faults[0].rule === 'object') throw createInvalidError([{ pointer: '#', detail: wrapAdvice }]);
    const sentences = read.faults.map(({ offset, rule, message }) => {
      const { line, column } = findPosition(text, offset);
      return rule === 'json' ? `line ${line}, column ${column}: ${message}` : message;
    });
    throw ProblemError.ofSentences('bad-json', sentences);
  }
  const body = unflatten(read.data);
  const errors = validate('update', body, categories).map(({ place, keyword, message }): ProblemDetail => {
    const pointer = [
      '#',
      ...place.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')),
    ].join('/');
    return { pointer, detail: findAdvice(place, keyword, read.data, editAdvice) ?? message };
  });
  if (errors.length === 0) return body['bot'] as UpdateValues;
  const hidden = findHidden(body, '#');
  if (hidden !== undefined)
    throw new ProblemError('bad-json', `${hidden} is not a key of an update: leave it out`);
  throw createInvalidError(errors);
}

/** Some clients put it in front; JSON.parse refuses it. */
const byteOrderMark = /^\uFEFF/;

const emptyAdvice = 'the body is empty: send an object, such as {"bot": {"count": 156}}';

const wrapAdvice = 'there is no "bot" object: wrap the values in bot, such as {"bot": {"count": 156}}';

const crowdedAdvice = 'there are hundreds of keys, lists or objects: send only the keys that change';

/** Whether the text has far more quotes and brackets than any update: reporting an error for each would take long. */
function isCrowded(text: string): boolean {
  return text.length > maxMarks && text.split(/["[{]/, maxMarks + 2).length > maxMarks + 1;
}

/** Quotes and brackets of a body. */
const maxMarks = 1000;

function createInvalidError(errors: readonly ProblemDetail[]): ProblemError {
  return ProblemError.ofErrors('invalid-update', errors);
}

const protectedKeys = new Set([
  'id',
  'contents',
  'cachedImages',
  'page',
  ...Object.keys(resolveProperties(readSchema('main-page'))),
]);

export const writableKeys = Object.keys(
  resolveProperties(resolveProperties(readSchema('update'))['bot'] ?? {}),
);

/** Turns a body in which every key is a path, as some libraries send it, into the nested form. */
function unflatten(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const keys = Object.keys(body);
  if (keys.length === 0 || !keys.every((key) => key.startsWith('bot.'))) return body;
  return {
    bot: Object.fromEntries(Object.entries(body).map(([key, value]) => [key.slice('bot.'.length), value])),
  };
}

/** Returns a message for a common mistake; undefined where the schema's message is good enough. */
function findAdvice(
  place: readonly (string | number)[],
  keyword: string,
  body: Readonly<Record<string, unknown>>,
  editAdvice: () => string,
): string | undefined {
  const [top, key] = place;
  if (keyword === 'required' && place.length === 0) return wrapAdvice;
  if (keyword !== 'additionalProperties') return undefined;
  if (place.length === 1 && typeof top === 'string') {
    const inner = writableKeys.includes(top) ? top : looksLikeCount.test(top) ? 'count' : undefined;
    if (inner === undefined)
      return `${quoteValue(top)} is outside of bot: wrap the values in bot, such as {"bot": {"count": 156}}`;
    return `wrap the values in bot: send {"bot": {${quoteValue(inner)}: ${quoteValue(body[top])}}}`;
  }
  if (typeof key !== 'string') return undefined;
  if (looksLikeCount.test(key))
    return `${quoteValue(key)} is not a key: the number of servers is called "count"`;
  if (protectedKeys.has(key.split('.')[0] ?? ''))
    return `${quoteValue(key)} cannot be changed here: ${editAdvice()}`;
  return undefined;
}

const looksLikeCount = /^(server|guild|bot)?s?[_.]?(count|servers|guilds|total)$/i;

/** Returns the pointer of a key called `__proto__`, if there is one. */
function findHidden(value: unknown, pointer: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const below = key === '__proto__' ? `${pointer}/${key}` : findHidden(child, `${pointer}/${key}`);
    if (below !== undefined) return below;
  }
  return undefined;
}
