import { Router } from '@koa/router';
import type { BotId } from '../../bot/id.ts';
import type { OpenCatalogue } from '../../catalogue/catalogue.ts';
import type { OpenCounts } from '../../counts/counts.ts';
import type { Clone } from '../../git/branch/clone.ts';
import type { Committer } from '../../git/branch/committer.ts';
import type { OpenImages } from '../../images/images.ts';
import type { Log } from '../../lib/log.ts';
import type { Login } from '../../login/login.ts';
import type { OpenProposals } from '../../proposals/open.ts';
import type { RemoteSettings, Sync } from '../../sync/sync.ts';
import { RateLimit } from '../limits.ts';
import { addChangesRoute, addFeedRoute } from './changes-routes.ts';
import { addCountHistoryRoute, addCountsRoute, addLatestCountsRoute } from './counts-routes.ts';
import { addExportRoute, createExportPlaces } from './export-route.ts';
import { addHookRoute } from './hook-route.ts';
import { addOpenApiRoute } from './openapi.ts';
import { addPageRoute } from './page-route.ts';
import { addImageRoute, addReadRoutes } from './read-routes.ts';
import { addUpdateRoute, type UpdateRoute, type UpdateRouteOptions } from './update-route.ts';
import { createUpdates, type PostedEdit } from './updates.ts';

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

/** Returns how the owner of a bot gets its token. */
function adviseOnToken(
  id: BotId,
  { login, site, config }: Pick<ApiParts, 'login' | 'site' | 'config'>,
): string {
  if (login?.disabledReason === null) return `log in at ${config.baseUrl}/bots/${id}/token to issue one`;
  const operator = site.contact === null ? 'the operator' : `the operator (${site.contact})`;
  return `${operator} issues one with "botshelf token ${id}", because nobody can log in here`;
}
