import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { UpdateValues, Category } from '../../../schemas/types.ts';
import type { BotId } from '../../bot/id.ts';
import { resolveProperties, readSchema } from '../../bot/schemas.ts';
import { parseToken } from '../../bot/token.ts';
import { findPosition } from '../../catalogue/page/fault.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import { validate } from '../../catalogue/page/schema.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/store/bot-index.ts';
import { readStrictJson } from '../../lib/json.ts';
import { toAddressGroup } from '../../lib/network.ts';
import { quoteValue } from '../../lib/text.ts';
import type { Tokens } from '../../tokens/tokens.ts';
import type { RateLimit } from '../limits.ts';
import { ProblemError, type ProblemDetail } from '../problem.ts';
import { listEtags } from '../representation.ts';
import { type BodyRules, readText, findKnownBot } from '../request.ts';
import {
  createHeaders,
  createProblems,
  createReference,
  type JsonObject,
  type Paths,
  toJson,
} from './operation.ts';

/**
 * Applies an update, all or nothing, and makes it durable. Returns the commit of its content; null where no content
 * changed.
 * @param isExpected whether the bot is the one the client read
 * @throws {BotshelfError} unknown-bot, when the bot has gone since it was looked up
 * @throws {BotshelfError} precondition-failed, when `isExpected` returns false, or the bot changes before the update is made
 * @throws {BotshelfError} unavailable, when nothing can be written now, or the bot's file is faulty
 */
export type ApplyUpdate = (
  id: BotId,
  values: UpdateValues,
  isExpected?: (bot: IndexedBot) => boolean,
) => Promise<string | null>;

export interface UpdateRouteOptions extends AuthenticationOptions {
  readonly bots: BotIndex;
  readonly applyUpdate: ApplyUpdate;
  /** Returns the settings in force. */
  readonly settings: () => CatalogueSettings;
  /** Limits posts by bot. */
  readonly posts: RateLimit;
  /**
   * Resolves when the response may be sent, after the change is durable: true if the Git server has it. Null where the
   * operator does not require that.
   */
  readonly acknowledge: (() => Promise<boolean>) | null;
}

/** The route of an update, which needs no router where clients spell its path as most do. */
export interface UpdateRoute {
  readonly path: string;
  /** Finds the bot's ID in an address that is the path alone; undefined in any other. */
  readonly findId: (url: string) => string | undefined;
  readonly respond: (ctx: Context, id: string) => Promise<void>;
}

/**
 * Adds the only write of the API: an owner posts a count or changes top-level keys.
 */
export function addUpdateRoute(router: Router, options: UpdateRouteOptions): UpdateRoute {
  const { bots, applyUpdate, settings, posts, acknowledge } = options;
  const respond = async (ctx: Context, id: string): Promise<void> => {
    const bot = findKnownBot(bots, id);
    await authenticate(ctx, bot.id, options);
    posts.count(ctx, bot.id, 'post less often, every half hour is plenty');
    const hasArrived = ctx.req.complete;
    const body = await readText(ctx, bodyRules);
    // The token may have ended while the body came.
    if (!hasArrived) await authenticate(ctx, findKnownBot(bots, id).id, options);
    const values = parseUpdate(
      body,
      settings().categories,
      () => `edit ${findMainPath(bot)} by pull request`,
    );
    const commit = await applyUpdate(bot.id, values, readExpectation(ctx));
    const isAcknowledged = acknowledge === null || (await acknowledge());
    ctx.status = isAcknowledged ? 200 : 202;
    ctx.res.setHeader('Cache-Control', 'no-store');
    ctx.res.setHeader('Content-Type', 'application/json; charset=utf-8');
    ctx.body = JSON.stringify({ bot: values, commit, ...(!isAcknowledged && { note: savedHere }) });
  };
  router.post(updatePath, async (ctx) => await respond(ctx, ctx.params['id'] ?? ''));
  return { path: updatePath, findId: (url) => /^\/api\/v2\/bots\/(\d+)$/.exec(url)?.[1], respond };
}

const updatePath = '/api/v2/bots/:id';

const savedHere =
  'the change is saved; the Git server does not have it yet, it is pushed later: do not send it again';

/** More than any update needs. */
const bodyRules: BodyRules = {
  type: ['application/json', 'JSON'],
  limit: 64 * 1024,
  whenTooLarge: 'send only the keys that change',
};

/** Returns the condition in If-Match: whether a bot's ETag, in any coding, is in its list. */
function readExpectation(ctx: Context): ((bot: IndexedBot) => boolean) | undefined {
  const condition = ctx.headers['if-match']?.trim() ?? '';
  if (condition === '' || condition === '*') return undefined;
  const expected = condition.split(',').map((etag) => etag.trim());
  return ({ digest }) => listEtags(digest).some((etag) => expected.includes(etag));
}

function findMainPath({ id, files }: IndexedBot): string {
  const main = files.find((file) => file.main);
  return main ? pathOf(id, main.locale) : `the files of ${id}`;
}

/** Why a token is refused. */
type TokenRefusal = 'missing' | 'malformed' | 'unknown' | 'other-bot';

interface AuthenticationOptions {
  readonly tokens: Pick<Tokens, 'checkToken'>;
  /** Limits refused tokens by address. */
  readonly badTokens: RateLimit;
  /** Returns how the owner of a bot gets its token, for messages. */
  readonly tokenAdvice: (id: BotId) => string;
  /** Called for each token that is refused. */
  readonly onRefusal: (ctx: Context, id: BotId, reason: TokenRefusal) => void;
}

/**
 * Checks that the request has the token of the bot. Only refused tokens count against the client's address, so that an
 * owner with a valid token is not limited by others at the same address.
 * @throws {ProblemError} no-token, bad-token, other-token or too-many-requests
 */
async function authenticate(
  ctx: Context,
  id: BotId,
  { tokens, badTokens, tokenAdvice, onRefusal }: AuthenticationOptions,
): Promise<void> {
  const { authorization = '' } = ctx.headers;
  const text = authorization.trim().replace(/^bearer(?:\s+|$)/i, '');
  if (text === '') {
    onRefusal(ctx, id, 'missing');
    throw new ProblemError(
      'no-token',
      `send the bot's token in the Authorization header: ${tokenAdvice(id)}`,
      createChallenge(),
    );
  }
  const token = parseToken(text);
  const check = token === undefined ? 'unknown' : await tokens.checkToken(id, token, ctx.ip);
  if (check === 'valid') return;

  onRefusal(ctx, id, token === undefined ? 'malformed' : check === 'other bot' ? 'other-bot' : 'unknown');
  badTokens.count(
    ctx,
    toAddressGroup(ctx.ip),
    'too many invalid tokens come from your address, check what sends them',
  );
  if (check === 'other bot') {
    throw new ProblemError('other-token', `this token belongs to another bot: use the token of ${id}`);
  }
  const detail =
    token === undefined
      ? `this is not a complete token: send bsh_ and its 49 letters and digits, alone or after Bearer; ${tokenAdvice(id)}`
      : `this token is unknown or was revoked: ${tokenAdvice(id)}`;
  throw new ProblemError('bad-token', detail, createChallenge('error="invalid_token"'));
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

const writableKeys = Object.keys(resolveProperties(resolveProperties(readSchema('update'))['bot'] ?? {}));

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

function createAnswer(description: string): JsonObject {
  return {
    description,
    headers: createHeaders(['Cache-Control', 'RateLimit', 'RateLimit-Policy']),
    content: toJson({ $ref: 'update-answer.schema.json' }),
  };
}

export const updatePaths: Paths = {
  '/api/v2/bots/{id}': {
    post: {
      operationId: 'updateBot',
      summary: 'Post a count or change keys',
      description: `Any of \`${writableKeys.join(' ')}\` in \`bot\`; all of them are changed or none. \`count\` is a whole number from 0 to 10,000,000,000. Status 200 or 202 means that the change is saved and is not lost.`,
      security: [{ token: [] }],
      parameters: [createReference('parameters', 'id'), createReference('parameters', 'If-Match')],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              anyOf: [{ $ref: 'update.schema.json' }, { $ref: 'definitions.schema.json#/$defs/flatUpdate' }],
            },
            example: { bot: { count: 156 } },
          },
        },
      },
      responses: {
        '200': createAnswer(
          'The keys as they are stored. `commit` is the commit that has them; null where only a count changed, or nothing did.',
        ),
        '202': createAnswer(
          'The same, on a service that waits for its Git server, which does not have the change yet. Do not send it again.',
        ),
        ...createProblems(400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503),
      },
    },
  },
};
