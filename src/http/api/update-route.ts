import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Category, Command, UpdateValues } from '../../../schemas/types.ts';
import type { BotId } from '../../bot/id.ts';
import { resolveProperties, readSchema, validate, formatPlace } from '../../bot/schemas.ts';
import { parseToken } from '../../bot/token.ts';
import { findPosition } from '../../catalogue/page/fault.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import { maxFileSize } from '../../catalogue/page/page.ts';
import { maxCommandDepth, pickCommands, printCommands } from '../../catalogue/page/side-file.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { type BotIndex, type IndexedBot, findKnownBot } from '../../catalogue/store/bot-index.ts';
import { BotshelfError } from '../../lib/errors.ts';
import { readStrictJson, readStrictList, type StrictJson } from '../../lib/json.ts';
import { quoteValue } from '../../lib/text.ts';
import type { TokenCheck, Tokens } from '../../tokens/tokens.ts';
import type { RateLimit } from '../limits.ts';
import { ProblemError, type ProblemDetail } from '../problem.ts';
import { listEtags, parseEtags } from '../representation.ts';
import { type BodyRules, readText } from '../request.ts';

/**
 * Applies an update and makes it durable. Returns the commit of its content; null if no content changed. If it rejects,
 * nothing is saved, unless the error is count-not-saved.
 * @param isExpected whether the client read the bot, or the commands, with this digest
 * @throws {BotshelfError} unknown-bot, when the bot has gone since it was looked up
 * @throws {BotshelfError} precondition-failed, when `isExpected` returns false, or the bot changes before the update is
 * made
 * @throws {BotshelfError} unavailable, when nothing can be written now, or the bot's file is faulty
 * @throws {BotshelfError} count-not-saved, when the count cannot be saved after the content
 * @throws {ProblemError} too-many-requests, if the bot would have one commit too many
 */
export type ApplyUpdate = (
  id: BotId,
  values: UpdateValues & PostedCommands,
  isExpected?: (digest: string | undefined) => boolean,
) => Promise<string | null>;

/** Commands, which are posted alone and replace all of the bot's commands. */
export interface PostedCommands {
  readonly commands?: readonly Command[];
}

export interface UpdateRouteOptions extends PostOptions {
  readonly applyUpdate: ApplyUpdate;
  /** Returns the settings in force. */
  readonly settings: () => CatalogueSettings;
}

/** The options of all routes that owners post to. */
export interface PostOptions extends AuthenticationOptions {
  readonly bots: BotIndex;
  /** Limits posts by bot. */
  readonly posts: RateLimit;
  /**
   * Resolves when the response may be sent, after the change is durable: true if the Git server has it. Null if the
   * operator does not require that.
   */
  readonly acknowledge: (() => Promise<boolean>) | null;
}

/** The routes of updates. The usual spellings of their paths need no router. */
export interface UpdateRoute {
  /** Finds the target of an update in an address that is a path alone; undefined for any other. */
  readonly find: (url: string) => UpdateTarget | undefined;
  readonly respond: (ctx: Context, target: UpdateTarget) => Promise<void>;
}

export interface UpdateTarget {
  /** The pattern of the path. */
  readonly path: typeof updatePath | typeof statsPath | typeof commandsPath;
  /** The bot's ID as it was sent; undefined for the bot that the token belongs to. */
  readonly id: string | undefined;
}

/**
 * Adds the writes of the API: an owner posts a count, changes top-level keys, or puts or posts the commands. `/stats` takes a count as
 * other lists do.
 */
export function addUpdateRoute(router: Router, options: UpdateRouteOptions): UpdateRoute {
  const { applyUpdate, settings, acknowledge } = options;
  const respond = async (ctx: Context, target: UpdateTarget): Promise<void> => {
    const { path, id = await findHolder(ctx, options) } = target;
    const { bot, body } = await readPost(ctx, id, path === commandsPath ? commandsRules : bodyRules, options);
    const values =
      path === commandsPath
        ? { commands: parseCommands(body) }
        : path === statsPath
          ? parseStats(body)
          : parseUpdate(body, settings().categories, () => `edit ${findMainPath(bot)} by pull request`);
    const commit = await applyUpdate(bot.id, values, readExpectation(ctx));
    const isAcknowledged = acknowledge === null || (await acknowledge());
    ctx.status = isAcknowledged ? 200 : 202;
    ctx.res.setHeader('Cache-Control', 'no-store');
    ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
    const answer = 'commands' in values ? { commands: values.commands.length } : { bot: values };
    ctx.body = JSON.stringify({ ...answer, commit, ...(!isAcknowledged && { note: savedHere }) });
  };
  router.post('/api/v2/bots/stats', async (ctx) => await respond(ctx, { path: statsPath, id: undefined }));
  for (const path of [updatePath, statsPath] as const)
    router.post(path, async (ctx) => await respond(ctx, { path, id: ctx.params['id'] ?? '' }));
  const respondToCommands = async (ctx: Context): Promise<void> =>
    await respond(ctx, { path: commandsPath, id: ctx.params['id'] ?? '' });
  router.put(commandsPath, respondToCommands);
  router.post(commandsPath, respondToCommands);
  return { find: findTarget, respond };
}

/**
 * Checks bot, token and rate limit, and then reads the body.
 * @throws {ProblemError} no-token, bad-token, other-token, too-many-requests, and as readText
 * @throws {BotshelfError} malformed-id, unknown-bot; unavailable, when the token cannot be checked now
 */
export async function readPost(
  ctx: Context,
  id: string,
  rules: BodyRules,
  options: PostOptions,
): Promise<{ readonly bot: IndexedBot; readonly body: string }> {
  const { bots, posts } = options;
  const bot = findKnownBot(bots, id);
  await authenticate(ctx, bot.id, options);
  posts.count(ctx, bot.id, 'post less often, every half hour is plenty');
  const hasArrived = ctx.req.complete;
  const body = await readText(ctx, rules);
  // The token may have been revoked while the body was received.
  if (!hasArrived) await authenticate(ctx, findKnownBot(bots, id).id, options);
  return { bot, body };
}

const updatePath = '/api/v2/bots/:id';
const statsPath = '/api/v2/bots/:id/stats';
const commandsPath = '/api/v2/bots/:id/commands';

function findTarget(url: string): UpdateTarget | undefined {
  const [, id, stats] = /^\/api\/v2\/bots\/(\d+)(\/stats)?$/.exec(url) ?? [];
  return id === undefined ? undefined : { path: stats === undefined ? updatePath : statsPath, id };
}

export const savedHere =
  'the change is saved; the Git server does not have it yet, it is pushed later: do not send it again';

/** More than any update needs. */
const bodyRules: BodyRules = {
  type: ['application/json', 'JSON'],
  limit: 64 * 1024,
  whenTooLarge: 'send only the keys that change',
};

const maxCommandsBytes = 128 * 1024;

/** The rules for the list that Discord's API returns for the commands of an application. */
const commandsRules: BodyRules = {
  type: ['application/json', 'JSON'],
  limit: maxCommandsBytes,
  whenTooLarge: 'leave out keys that the list does not show, such as choices',
};

/**
 * Returns the condition in If-Match: whether its list has the ETag with a digest, in any coding, weak or not. The
 * condition `*` is whether a digest exists.
 */
function readExpectation(ctx: Context): ((digest: string | undefined) => boolean) | undefined {
  const condition = ctx.headers['if-match']?.trim() ?? '';
  if (condition === '') return undefined;
  if (condition === '*') return (digest) => digest !== undefined;
  const expected = parseEtags(condition);
  return (digest) => digest !== undefined && listEtags(digest).some((etag) => expected.includes(etag));
}

function findMainPath({ id, files }: IndexedBot): string {
  const main = files.find((file) => file.main);
  return main ? pathOf(id, main.locale) : `the files of ${id}`;
}

/** The reason why a token is refused. */
type TokenRefusal = 'missing' | 'malformed' | 'unknown' | 'other-bot';

interface AuthenticationOptions {
  readonly tokens: Pick<Tokens, 'checkToken' | 'findHolder'>;
  /** Limits refused tokens by address. */
  readonly badTokens: RateLimit;
  /** Returns how the owner of a bot gets its token, for messages. */
  readonly tokenAdvice: (id: BotId) => string;
  /** Called for each token that is refused. */
  readonly onRefusal: (ctx: Context, bot: string, reason: TokenRefusal) => void;
}

/**
 * Checks that the request has the token of the bot. Only refused tokens count against the client's address, so that an
 * owner with a valid token is not limited by others at the same address.
 * @throws {ProblemError} no-token, bad-token, other-token or too-many-requests
 * @throws {BotshelfError} unavailable, when the token cannot be checked now
 */
async function authenticate(ctx: Context, id: BotId, options: AuthenticationOptions): Promise<void> {
  const { tokens, tokenAdvice, onRefusal } = options;
  const text = readAuthorization(ctx);
  if (text === '') {
    onRefusal(ctx, id, 'missing');
    throw new ProblemError(
      'no-token',
      `send the bot's token in the Authorization header: ${tokenAdvice(id)}`,
      createChallenge(),
    );
  }
  const token = parseToken(text);
  const check = token === undefined ? 'malformed' : await tokens.checkToken(id, token, ctx.ip);
  if (check === 'valid') return;

  countRefusal(ctx, id, check, options);
  if (check === 'other bot') {
    throw new ProblemError('other-token', `this token belongs to another bot: use the token of ${id}`);
  }
  const detail =
    check === 'malformed'
      ? `this is not a complete token: send bsh_ and its 49 letters and digits, alone or after Bearer; ${tokenAdvice(id)}`
      : `this token is unknown or was revoked: ${tokenAdvice(id)}`;
  throw new ProblemError('bad-token', detail, createChallenge('error="invalid_token"'));
}

/**
 * Returns the bot that the token of a request belongs to.
 * @throws {ProblemError} bad-token or too-many-requests
 * @throws {BotshelfError} as authenticate
 */
async function findHolder(ctx: Context, options: AuthenticationOptions): Promise<BotId> {
  const token = parseToken(readAuthorization(ctx));
  const check = token === undefined ? 'malformed' : await options.tokens.findHolder(token, ctx.ip);
  if (typeof check === 'object') return check.holder;
  countRefusal(ctx, 'a bot that is not named', check, options);
  const detail =
    'no bot has this token: send the token of the bot in the Authorization header, or post to /api/v2/bots/ID/stats, which says where to get one';
  throw new ProblemError('bad-token', detail, createChallenge('error="invalid_token"'));
}

/**
 * Counts a refused token against the client's address. An unchecked one counts too: it is unknown here.
 * @throws {ProblemError} too-many-requests
 * @throws {BotshelfError} unavailable, if the token is unchecked
 */
function countRefusal(
  ctx: Context,
  bot: string,
  check: Exclude<TokenCheck, 'valid'> | 'malformed',
  { badTokens, onRefusal }: AuthenticationOptions,
): void {
  onRefusal(ctx, bot, check === 'other bot' ? 'other-bot' : check === 'unchecked' ? 'unknown' : check);
  badTokens.countClient(ctx, 'too many invalid tokens come from your address, check what sends them');
  if (check === 'unchecked')
    throw new BotshelfError(
      'overloaded',
      'this token is unknown here, and the tokens of other machines cannot be fetched from the shared Git server now: try again',
    );
}

/** Returns what is in the Authorization header, without the scheme that a library puts in front. */
function readAuthorization({ headers: { authorization = '' } }: Context): string {
  return authorization.trim().replace(/^(?:bearer|bot|token)(?:\s+|$)/i, '');
}

function createChallenge(parameter?: string): { headers: Record<string, string> } {
  return { headers: { 'WWW-Authenticate': `Bearer realm="botshelf"${parameter ? `, ${parameter}` : ''}` } };
}

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
  const hidden = findHidden(body, '#');
  if (hidden !== undefined)
    throw new ProblemError('bad-json', `${hidden} is not a key of an update: leave it out`);
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

const listAdvice =
  'the body is not a list: send what Discord’s API returns for the commands, such as [{"name": "play", "description": "Plays a song"}]';

/** Returns a JSON pointer as a URI fragment. */
export function toPointer(place: readonly (string | number)[]): string {
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
export const byteOrderMark = /^\uFEFF/;

const wrapAdvice = `there is no "bot" object: wrap the values in bot, such as ${updateExample}`;

const crowdedAdvice = 'there are hundreds of keys, lists or objects: send only the keys that change';

/**
 * Refuses a text with far more quotes and brackets than any update: reporting an error for each would take long.
 * @throws {ProblemError} invalid-update
 */
export function ensureNotCrowded(text: string): void {
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

/** Returns the pointer of a key called `__proto__`, if there is one. */
function findHidden(value: unknown, pointer: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const below = key === '__proto__' ? `${pointer}/${key}` : findHidden(child, `${pointer}/${key}`);
    if (below !== undefined) return below;
  }
  return undefined;
}
