import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Command, UpdateValues } from '../../../schemas/types.ts';
import { createUnknownBotError } from '../../bot/errors.ts';
import type { BotId } from '../../bot/id.ts';
import { toCanonicalLocale } from '../../bot/locale.ts';
import { parseToken } from '../../bot/token.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { type BotIndex, type IndexedBot, findKnownBot } from '../../catalogue/store/bot-index.ts';
import { BotshelfError } from '../../lib/errors.ts';
import { ProposalError, toProposalPath } from '../../proposals/proposal.ts';
import type { Proposals } from '../../proposals/proposals.ts';
import type { TokenCheck, Tokens } from '../../tokens/tokens.ts';
import type { RateLimit } from '../limits.ts';
import { ProblemError, type ProblemKind } from '../problem.ts';
import { listEtags, parseEtags } from '../representation.ts';
import { type BodyRules, readText } from '../request.ts';
import { parseCommands, parseSentPage, parseStats, parseUpdate } from './update-body.ts';

export interface UpdateRouteOptions extends PostOptions {
  readonly applyUpdate: ApplyUpdate;
  /** Returns the settings in force. */
  readonly settings: () => CatalogueSettings;
}

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

/** The options of all routes that owners post to. */
interface PostOptions extends AuthenticationOptions {
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
  for (const path of [updatePath, statsPath, commandsPath] as const) {
    const handle = async (ctx: Context): Promise<void> =>
      await respond(ctx, { path, id: ctx.params['id'] ?? '' });
    router.post(path, handle);
    if (path === commandsPath) router.put(path, handle);
  }
  return { find: findTarget, respond };
}

interface PageRouteOptions extends PostOptions {
  /** Null if nobody can log in, or proposals are turned off. */
  readonly proposals: Pick<Proposals, 'sendPage'> | null;
  /** The public address of the service. */
  readonly baseUrl: string;
}

/** Adds the write for bots whose own repository has their page: its text becomes a proposal of the bot itself. */
export function addPageRoute(router: Router, options: PageRouteOptions): void {
  const { proposals, baseUrl, acknowledge } = options;
  router.put('/api/v2/bots/:id/pages/:locale', async (ctx) => {
    const { bot, body } = await readPost(ctx, ctx['params'].id ?? '', pageRules, options);
    const locale = toCanonicalLocale(ctx['params'].locale ?? '');
    if (locale === undefined)
      throw new ProblemError('not-found', 'the address ends in no language: use a tag such as en or pt-BR');
    const page = { ...parseSentPage(body), id: bot.id, locale, name: bot.facts.name };
    if (proposals === null) return refusePage(bot.id, new ProposalError('off'));
    const { proposal, shared } = await proposals.sendPage(page).catch((error) => refusePage(bot.id, error));
    const isPublished = proposal?.state === 'accepted';
    const isSaved = shared && (!isPublished || acknowledge === null || (await acknowledge()));
    const address = proposal && baseUrl + toProposalPath(proposal);
    ctx.status = proposal?.closedAt === null || !isSaved ? 202 : 200;
    ctx.set('Cache-Control', 'no-store');
    if (ctx.status === 202 && address !== null) ctx.set('Location', address);
    const state = isPublished ? 'published' : (proposal?.state ?? 'unchanged');
    ctx.body = { proposal: address, state, ...(!isSaved && { note: savedHere }) };
  });
}

/**
 * Checks bot, token and rate limit, and then reads the body.
 * @throws {ProblemError} no-token, bad-token, other-token, too-many-requests, and as readText
 * @throws {BotshelfError} malformed-id, unknown-bot; unavailable, when the token cannot be checked now
 */
async function readPost(ctx: Context, id: string, rules: BodyRules, options: PostOptions) {
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

const savedHere =
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
  if (check === 'other bot')
    throw new ProblemError('other-token', `this token belongs to another bot: use the token of ${id}`);
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

/** The limit is that of a proposal. */
const pageRules = {
  type: ['text/markdown', 'markdown'],
  limit: 64 * 1024,
  whenTooLarge: 'shorten the page',
} as const;

/** Throws the error of a page that was refused. */
function refusePage(id: BotId, error: unknown): never {
  if (!(error instanceof ProposalError)) throw error;
  const { kind, values } = error;
  if (kind === 'gone') throw createUnknownBotError(id);
  if (kind === 'faulty')
    throw ProblemError.ofErrors('invalid-update', [{ pointer: '#', detail: String(values['fault']) }]);
  const [problem, detail] = refusals.get(kind) ?? takesNone;
  const isForNow = kind.startsWith('too-many');
  throw new ProblemError(problem, detail, isForNow ? { headers: { 'Retry-After': '3600' } } : {});
}

const takesNone = [
  'proposal-refused',
  'this list takes no pages from bots: change them on the site or by pull request',
] as const;

const refusals = new Map<string, readonly [ProblemKind, string]>([
  ['blocked', ['proposal-refused', 'this list takes nothing from the bot: ask the maintainers']],
  ['conflict', ['edit-conflict', 'the list has changed another page that waits: send that page again first']],
  ['too-large', ['too-large', 'the pages that wait have more than 64 KiB: shorten them']],
  ['too-many-sent', ['too-many-requests', 'the bot has sent as many pages as it can in 24 hours']],
  ['too-many-in-all', ['busy', 'too many proposals wait: try again later']],
]);
