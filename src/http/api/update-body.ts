import type { Category, Command, PageContent, UpdateValues } from '../../../schemas/types.ts';
import { resolveProperties, readSchema } from '../../bot/schemas.ts';
import { validate, formatPlace } from '../../bot/validate.ts';
import { findPosition } from '../../catalogue/page/fault.ts';
import { maxFileSize, parsePage } from '../../catalogue/page/page.ts';
import { maxCommandDepth, pickCommands, printCommands } from '../../bot/commands.ts';
import { readStrictJson, readStrictList, type StrictJson } from '../../lib/json.ts';
import { quoteValue } from '../../lib/text.ts';
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
  const body = unflatten(readBody(text, updateExample, wrapAdvice));
  const errors = validate('update', body, categories, {}).map(
    ({ place, keyword, message }): ProblemDetail => {
      return { pointer: toPointer(place), detail: findAdvice(place, keyword, body, editAdvice) ?? message };
    },
  );
  if (errors.length === 0) return body['bot'] as UpdateValues;
  throw createInvalidError(errors);
}

/**
 * Reads the body of a count as libraries send it to other lists, such as `{"server_count": 156, "shard_count": 1}`. A list
 * has the count of each shard. The count of one shard alone is refused; other keys are ignored.
 * @throws {ProblemError} bad-json or invalid-update
 */
export function parseStats(text: string): Pick<UpdateValues, 'count'> {
  const body = readBody(text, statsExample, noCountAdvice);
  const keys = countKeys.filter((key) => Object.hasOwn(body, key));
  // Otherwise it is the number of shards.
  if (keys.length === 0 && Array.isArray(body['shards'])) keys.push('shards');
  const [first] = keys;
  if (first === undefined) throw createInvalidError([{ pointer: '#', detail: noCountAdvice }]);
  const count = sumShards(body[first]);
  const errors = [
    ...validate('update', { bot: { count } }).map(({ message }) => ({
      pointer: `#/${first}`,
      detail: Array.isArray(count) ? shardsAdvice : message,
    })),
    ...keys
      .filter((key) => sumShards(body[key]) !== count)
      .map((key) => ({ pointer: `#/${key}`, detail: `this is not the same as ${first}: send one of them` })),
    ...findShardErrors(body),
  ];
  if (errors.length > 0) throw createInvalidError(errors);
  return { count: count as number };
}

/**
 * Reads the body with a bot's commands: the list that Discord's API returns for an application.
 * @throws {ProblemError} bad-json or invalid-update, with every error at once
 */
export function parseCommands(text: string): readonly Command[] {
  const read = readStrictList(text.replace(byteOrderMark, ''), 'the body', maxCommandDepth);
  const list = ensureRead(text, read, listAdvice);
  const commands = pickCommands(list) as Command[];
  const errors = validate('commands', { commands }).map(({ place, message }): ProblemDetail => {
    const [, i = -1, ...inner] = place;
    const name = commands[Number(i)]?.name;
    const which = name === undefined ? '' : `the command ${quoteValue(name)}: `;
    return { pointer: toPointer(place.slice(1)), detail: `${which}${formatPlace(inner)}${message}` };
  });
  if (errors.length === 0 && Buffer.byteLength(printCommands(commands)) > maxFileSize)
    errors.push({
      pointer: '#',
      detail: `the file would have more than ${maxFileSize} bytes: shorten texts`,
    });
  if (errors.length > 0) throw createInvalidError(errors);
  return commands;
}

/**
 * Reads a page: markdown, with or without front matter that has the description.
 * @throws {ProblemError} invalid-update, with every error at once
 */
export function parseSentPage(text: string): PageContent {
  const source = text.replace(byteOrderMark, '');
  const added = source.startsWith('---') ? '' : '---\n{}\n---\n';
  if (added === '') ensureNotCrowded(source.slice(0, source.indexOf('\n---')));
  const { page: parsed, faults } = parsePage('', Buffer.from(added + source));
  const { data = {}, page = '' } = parsed ?? {};
  const sent = { ...data, page };
  const isEmpty = parsed !== undefined && page.trim() === '' && !('description' in data);
  const errors = [
    ...('page' in data ? [{ pointer: '#/page', detail: 'write the page below the front matter' }] : []),
    ...(isEmpty ? [{ pointer: '#/page', detail: 'there is no text: send the text of the page' }] : []),
    ...faults.map(({ line, column, message }) => {
      const shown = line - (added.split('\n').length - 1);
      return { pointer: '#', detail: `line ${shown}, column ${column}: ${message}` };
    }),
    ...(parsed ? validate('sent-page', sent) : []).map(({ place, message }) => ({
      pointer: toPointer(place),
      detail: message,
    })),
  ];
  if (errors.length > 0) throw createInvalidError(errors);
  return sent;
}

const listAdvice =
  'the body is not a list: send what Discord’s API returns for the commands, such as [{"name": "play", "description": "Plays a song"}]';

/** Returns a JSON pointer as a URI fragment. */
function toPointer(place: readonly (string | number)[]): string {
  return ['#', ...place.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
}

const updateExample = '{"bot": {"count": 156}}';
const statsExample = '{"server_count": 156}';

/** The keys that lists of bots call the number of servers by. */
const countKeys = Object.keys(resolveProperties({ $ref: '#/$defs/stats' }));

const noCountAdvice = `there is no number of servers: send it as one of ${countKeys.join(', ')}, such as ${statsExample}`;

const shardsAdvice =
  'this list has no count of a shard, or a wrong one: send whole numbers, such as [78, 78]';

/** Returns the sum of the counts of shards; anything else, and an empty list, unchanged. */
function sumShards(value: unknown): unknown {
  if (!Array.isArray(value) || value.length === 0) return value;
  if (!value.every((count) => Number.isInteger(count) && count >= 0)) return value;
  return value.reduce((sum: number, count: number) => sum + count, 0);
}

/** Returns the error of a body with the id of a shard, whose count it is, unless there is one shard only. */
function findShardErrors(body: Readonly<Record<string, unknown>>): ProblemDetail[] {
  const given = Object.entries(body).filter(([, value]) => value !== null);
  const numbers = given.map(([key, value]) => {
    if (Array.isArray(value)) return [...countKeys, 'shards'].includes(key) ? value.length : 0;
    return /^(?:shard_?count|shards)$/i.test(key) ? Number(value) : 0;
  });
  const shards = Math.max(...numbers);
  const ids = given
    .filter(([key]) => /^shard(?:[_-]?id)?$/i.test(key))
    .filter(([, id]) => shards !== 1 || Number(id) !== 0);
  return ids.map(([key, id]) => {
    const shard = quoteValue(id) + (shards > 0 ? ` of ${shards}` : '');
    const advice = 'post the total from one process, with "shard_count": 1 or without a shard id';
    return { pointer: `#/${key}`, detail: `this is the count of shard ${shard}: ${advice}` };
  });
}

/**
 * Reads a body that is a JSON object.
 * @param example the advice for an empty object
 * @param advice for other values
 * @throws {ProblemError} bad-json or invalid-update
 */
function readBody(text: string, example: string, advice: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '')
    throw new ProblemError('bad-json', `the body is empty: send an object, such as ${example}`);
  ensureNotCrowded(text);
  return ensureRead(text, readStrictJson(text.replace(byteOrderMark, ''), 'the body'), advice);
}

/** @param advice for JSON of another kind @throws {ProblemError} as readBody */
function ensureRead<T>(text: string, read: StrictJson<T>, advice: string): T {
  if ('data' in read) return read.data;
  if (['object', 'list'].includes(read.faults[0].rule))
    throw createInvalidError([{ pointer: '#', detail: advice }]);
  const sentences = read.faults.map(({ offset, rule, message }) => {
    const { line, column } = findPosition(text, offset);
    return rule === 'json' ? `line ${line}, column ${column}: ${message}` : message;
  });
  throw ProblemError.ofSentences('bad-json', sentences);
}

/** Some clients send a byte order mark, which JSON.parse refuses. */
const byteOrderMark = /^\uFEFF/;

const wrapAdvice = `there is no "bot" object: wrap the values in bot, such as ${updateExample}`;

const crowdedAdvice = 'there are hundreds of keys, lists or objects: send only the keys that change';

/**
 * Refuses a text with far more quotes and brackets than any update: reporting an error for each would take long.
 * @throws {ProblemError} invalid-update
 */
function ensureNotCrowded(text: string): void {
  if (text.split(/["[{]/, maxMarks + 2).length > maxMarks + 1)
    throw createInvalidError([{ pointer: '#', detail: crowdedAdvice }]);
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

const writableKeys = Object.keys(resolveProperties(resolveProperties(readSchema('update'))['bot'] ?? {}));

/** Turns a body in which keys are paths, as some libraries send it, into the nested form. */
function unflatten(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(body);
  const values = entries.filter(([key]) => flatKey.test(key)).map(([key, value]) => [key.slice(4), value]);
  if ('bot' in body || values.length === 0) return body;
  const others = entries.filter(([key]) => !flatKey.test(key));
  return { bot: Object.fromEntries(values), ...Object.fromEntries(others) };
}

const flatKey = /^bot\./;

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
    if (inner === undefined && 'bot' in body) return `${quoteValue(top)} is not a key here: leave it out`;
    if (inner === undefined)
      return `${quoteValue(top)} is outside of bot: wrap the values in bot, such as ${updateExample}`;
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
