import { Router } from '@koa/router';
import { printCommands } from '../../bot/commands.ts';
import { formatCommitMessage } from '../../bot/commit-message.ts';
import type { Counts } from '../../bot/counts.ts';
import { isUnavailable } from '../../bot/errors.ts';
import type { BotId } from '../../bot/id.ts';
import type { OpenCatalogue } from '../../catalogue/catalogue.ts';
import { commandsPart, pathOf } from '../../catalogue/page/layout.ts';
import { withValues } from '../../catalogue/page/page.ts';
import { type BotIndex, findKnownBot, type IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { OpenCounts } from '../../counts/counts.ts';
import type { Clone } from '../../git/branch/clone.ts';
import type { Committer, Editor, FileEdit } from '../../git/branch/committer.ts';
import { computeBlobId } from '../../git/objects.ts';
import type { OpenImages } from '../../images/images.ts';
import { BotshelfError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import type { Login } from '../../login/login.ts';
import type { OpenProposals } from '../../proposals/open.ts';
import type { RemoteSettings, Sync } from '../../sync/sync.ts';
import { RateLimit } from '../limits.ts';
import { createDocument } from '../representation.ts';
import { addChangesRoute, addExportRoute, addFeedRoute, createExportPlaces } from './changes-routes.ts';
import { addCountHistoryRoute, addCountsRoute, addLatestCountsRoute } from './counts-routes.ts';
import { addHookRoute } from './hook-route.ts';
import { addOpenApiRoute } from './openapi.ts';
import { addImageRoute, addReadRoutes } from './read-routes.ts';
import {
  addPageRoute,
  addUpdateRoute,
  type ApplyUpdate,
  type PostedCommands,
  type UpdateRoute,
  type UpdateRouteOptions,
} from './update-route.ts';

/** The input of `createApi`. */
export interface ApiParts
  extends
    Pick<OpenCatalogue, 'catalogue' | 'bots' | 'lists' | 'authors' | 'changes' | 'feed' | 'cache'>,
    Pick<OpenCounts, 'state' | 'countHistory'>,
    Pick<UpdateRouteOptions, 'tokens'>,
    Pick<Clone, 'repositoryOpener' | 'remotePlace'> {
  readonly config: {
    readonly baseUrl: string;
    readonly rateLimit: number;
    readonly badTokenLimit: number;
    readonly contentLimit: number;
    readonly commandsLimit: number;
    readonly remote: Pick<RemoteSettings, 'ack' | 'webhookSecret'> | null;
  };
  readonly committer: Pick<Committer<PostedEdit>, 'commit'>;
  /** Null if images are not cached. */
  readonly images: OpenImages['cache'] | null;
  /** Null without a remote. */
  readonly sync: Sync | null;
  /** Null if proposals are not reviewed at the Git host. */
  readonly hostReview: OpenProposals['hostReview'];
  /** Null if nobody can log in, or proposals are turned off. */
  readonly proposals: OpenProposals['proposals'];
  /** Null if nobody can log in. */
  readonly login: Pick<Login, 'disabledReason'> | null;
  readonly site: { readonly contact: string | null };
  readonly countRefusal: (reason: string) => void;
  readonly log: Log;
}

/** The routes of the API, in routers of their own: a router matches a path against all of its routes. */
export interface Api {
  /** Updates by owners. */
  readonly posts: Router;
  /** Reads, which the response cache may keep. */
  readonly reads: Router;
  /** The webhook and the images. */
  readonly others: Router;
  readonly update: UpdateRoute;
}

/** Creates the routes of the API. */
export function createApi(parts: ApiParts): Api {
  const { config, bots, state, countHistory, cache, feed, images, sync, log } = parts;
  const { baseUrl, remote } = config;
  const settings = () => parts.catalogue.settings.current;
  const badTokens = new RateLimit('refused-tokens', config.badTokenLimit);
  const posts = new Router();
  const own: UpdateRouteOptions = {
    ...parts,
    settings,
    applyUpdate: createUpdates(bots, parts.committer, state, {
      content: new RateLimit('content', config.contentLimit, 'hour'),
      commands: new RateLimit('commands', config.commandsLimit, 'hour'),
    }),
    posts: new RateLimit('posts', config.rateLimit),
    badTokens,
    tokenAdvice: (id) => adviseOnToken(id, parts),
    onRefusal: (ctx, bot, reason) => {
      parts.countRefusal(reason);
      log.debug({ bot, reason, address: ctx.ip }, `a token was refused for ${bot}: ${reason}`);
    },
    acknowledge: sync && remote?.ack === 'remote' ? async () => await sync.waitForPush() : null,
  };
  const update = addUpdateRoute(posts, own);
  addPageRoute(posts, { ...own, proposals: parts.proposals, baseUrl });
  const reads = new Router();
  addReadRoutes(reads, { ...parts, collections: parts.catalogue.collections, baseUrl, settings });
  addCountsRoute(reads, bots, state, countHistory);
  addLatestCountsRoute(reads, bots, state, cache, settings);
  const places = createExportPlaces();
  addCountHistoryRoute(reads, { ...parts, places, settings });
  addExportRoute(reads, { ...parts, places, settings });
  addChangesRoute(reads, bots, parts.changes, baseUrl);
  addFeedRoute(reads, feed, baseUrl);
  addOpenApiRoute(reads, baseUrl, settings, () => parts.site.contact);
  const others = new Router();
  if (images) addImageRoute(others, images);
  const secret = remote?.webhookSecret;
  const pushed = (): void => {
    sync?.requestFetch();
    parts.hostReview?.wake();
  };
  if (sync && secret)
    addHookRoute(others, { secret, repository: parts.remotePlace?.path, pushed, refused: badTokens });
  return { posts, reads, others, update };
}

/**
 * Returns a function that applies owners' updates: content is committed, then the count goes to the journal. An update
 * that has resolved is durable. Updates of a bot that may commit run one after the other, so that each sees the one
 * before, and its commit is counted before the next is planned. A count alone does not wait.
 * @param limits of the commits of a bot, because they stay in the history
 */
export function createUpdates(
  bots: BotIndex,
  committer: Pick<Committer<PostedEdit>, 'commit'>,
  counts: Pick<Counts, 'setCount'>,
  limits: Readonly<Record<'content' | 'commands', RateLimit>>,
): ApplyUpdate {
  const queues = new Map<BotId, SerialQueue>();
  const queued = async <T>(id: BotId, work: () => Promise<T>): Promise<T> => {
    const queue = queues.get(id) ?? new SerialQueue();
    queues.set(id, queue);
    try {
      return await queue.run(work);
    } finally {
      if (queue.size === 0) queues.delete(id);
    }
  };
  return async (id, { count, commands, ...content }, isExpected) => {
    const expected = (): IndexedBot => {
      const bot = findKnownBot(bots, id);
      const digest = digestOf(bot, commands);
      if (isExpected?.(digest) === false) throw createChangedError(digest);
      return bot;
    };
    if (count !== undefined && commands === undefined && Object.keys(content).length === 0) {
      expected();
      await counts.setCount(id, count);
      return null;
    }
    return await queued(id, async () => {
      const bot = expected();
      const [locale] = commands ? ([commandsPart] as const) : bot.facts.locales;
      const values = commands ? { commands } : content;
      const digest = isExpected && digestOf(bot, commands);
      const [limit, advice] = commands
        ? [limits.commands, 'each change of the commands is a commit, so put them only when they change']
        : [
            limits.content,
            'each change of keys is a commit, so send all keys in one post; counts alone are still taken',
          ];
      const ensureMayCommit = (): void => limit.ensureLeft(id, advice);
      const edit = { id, name: bot.facts.name, values, digest, ensureMayCommit };
      const commit = locale ? await committer.commit({ ...edit, path: pathOf(id, locale) }) : null;
      if (commit !== null) limit.add(id);
      const saved = count === undefined ? undefined : counts.setCount(id, count);
      await saved?.catch((error: unknown) => {
        if (commit === null || !isUnavailable(error)) throw error;
        const message = 'the keys are saved, but the count is not: send the count again later';
        throw new BotshelfError('count-not-saved', message, { cause: error });
      });
      return commit;
    });
  };
}

/** New values for keys of a bot's main page, or its commands, from its owner. */
export interface PostedEdit extends FileEdit {
  readonly id: BotId;
  /** The bot's name, for the commit's message. */
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>> & PostedCommands;
  /** The digest that the bot or its commands must still have, where the owner requires that. */
  readonly digest: string | undefined;
  /** Called if the edit changes the file. @throws {ProblemError} too-many-requests, if the bot may have no commit now */
  readonly ensureMayCommit: () => void;
}

/** Returns the editor of the catalogue's pages and commands. */
export function createPageEditor(bots: BotIndex): Editor<PostedEdit> {
  return {
    edit: (text, edit) => {
      // Checked again on the file that is changed: a merge may have come in between.
      const bot = findKnownBot(bots, edit.id);
      const { commands } = edit.values;
      const digest = digestOf(bot, commands);
      if (edit.digest !== undefined && digest !== edit.digest) throw createChangedError(digest);
      if (edit.digest !== undefined && !isServed(bot, edit.path, text)) throw createChangedError(undefined);
      const after = commands ? printCommands(commands) : withValues(edit.path, text, edit.values, Date.now());
      if (after !== text) edit.ensureMayCommit();
      return after;
    },
    describe: (edits) =>
      formatCommitMessage(edits.map((edit) => ({ ...edit, keys: Object.keys(edit.values) }))),
  };
}

/** Returns how the owner of a bot gets its token. */
function adviseOnToken(id: BotId, { login, site, config }: Pick<ApiParts, 'login' | 'site' | 'config'>) {
  if (login?.disabledReason === null) return `log in at ${config.baseUrl}/bots/${id}/token to issue one`;
  const operator = site.contact === null ? 'the operator' : `the operator (${site.contact})`;
  return `${operator} issues one with "botshelf token ${id}", because nobody can log in here`;
}

/** Returns the digest of the document that a client has read: the bot, or its commands; undefined without one. */
function digestOf({ digest, commands }: IndexedBot, posted: PostedCommands['commands']): string | undefined {
  if (posted === undefined) return digest;
  return commands === null ? undefined : createDocument('application/json', commands).digest;
}

/** Whether the served bot has this text of a file. It has an older one until a person's commit is read. */
function isServed({ id, files }: IndexedBot, path: string, text: string | null): boolean {
  const sha = files.find(({ locale }) => pathOf(id, locale) === path)?.sha;
  if (text === null || sha === undefined) return text === null && sha === undefined;
  return computeBlobId(Buffer.from(text), sha.length === 40 ? 'sha1' : 'sha256') === sha;
}

/** @param digest the current one; undefined if it is not known */
function createChangedError(digest: string | undefined): BotshelfError {
  const message =
    'the bot has changed since it was read: read it again, then send the update again if it still applies';
  return new BotshelfError('precondition-failed', message, { digest });
}
