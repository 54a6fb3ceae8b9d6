import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { BotId } from '../../bot/id.ts';
import { findBlocked, requireBlocked } from '../../catalogue/settings/blocked.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { findBlockedIn } from '../../check/blocked-rule.ts';
import { refuseCrossSite } from '../../http/cross-site.ts';
import { RateLimit } from '../../http/rate-limits.ts';
import { findKnownBot } from '../../http/api/read-routes.ts';
import type { Login } from '../../login/login.ts';
import { isFresh } from '../../login/sessions.ts';
import type { TokenChanger } from '../../tokens/token-changes.ts';
import type { TokenInfo, Tokens } from '../../tokens/tokens.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { sendOnce } from '../page/html-response.ts';
import { type DoneChange, TokenPage, type TokenPageState } from './token-page.tsx';

/**
 * Adds the page of a bot's token, with buttons for the bot's authors only. Each press checks the committed authors and
 * the age of the login again. A token is in the response to the press and nowhere else.
 * @param login null where the service has no login
 * @param committedAuthors reads the authors of a bot from the last commit
 */
export function addTokenRoutes(
  router: Router,
  { site, bots, viewerOf, blocked }: SiteParts,
  login: Login | null,
  tokens: Tokens,
  committedAuthors: (id: BotId) => Promise<readonly string[]>,
): void {
  const presses = new RateLimit('token-presses', 10);

  /** Decides what the page shows, from the session and the bot's authors. */
  const stateOf = async (ctx: Context, bot: IndexedBot, pressed: boolean): Promise<TokenPageState> => {
    const { id } = bot;
    if (login === null || login.disabledReason !== null)
      return { kind: 'no-login', disabledReason: login?.disabledReason ?? null };
    const viewer = await viewerOf(ctx);
    if (viewer === null) return { kind: 'visitor' };
    if (!(await committedAuthors(id)).includes(viewer.id)) return { kind: 'not-an-author', viewer };
    const all = requireBlocked(blocked());
    const ofBot = findBlockedIn(bot, all).filter(({ kind }) => kind === 'bot');
    const [found] = [...ofBot, ...findBlocked(all, { authors: [viewer.id] })];
    if (found) return { kind: 'blocked', viewer, blocked: found };
    const info = await tokens.tokenInfo(id);
    if (!isFresh(viewer)) return { kind: 'stale', viewer, info, pressed };
    return { kind: 'author', viewer, info, done: null };
  };
  /** @param act what the button does, for an author; left out where the page is only opened */
  const createHandler =
    (act?: (id: BotId, by: TokenChanger, before: TokenInfo) => Promise<DoneChange>) =>
    async (ctx: Context): Promise<void> => {
      const bot = findKnownBot(bots, ctx['params'].id ?? '');
      const { id, facts } = bot;
      let state = await stateOf(ctx, bot, act !== undefined);
      if (act && state.kind === 'author') {
        presses.count(ctx, id, 'wait a minute before you press again');
        const done = await act(id, `account ${state.viewer.id}`, state.info);
        state = { ...state, done, info: await tokens.tokenInfo(id) };
      }
      const props = { site, bot: { id, name: facts.name }, provider: login?.provider ?? '', state };
      sendOnce(ctx, <TokenPage {...props} />, site.languages.of(ctx), toStatus(state, ctx.method));
    };
  const issue = createHandler(async (id, by, { issuedAt }) => {
    const { result, shared } = await tokens.issueToken(id, by);
    return { issued: result, replaced: issuedAt !== undefined, shared };
  });
  const revoke = createHandler(async (id, by) => {
    const { result, shared } = await tokens.revokeToken(id, by);
    return { revoked: result, shared };
  });
  const ownPagesOnly = refuseCrossSite(site.baseUrl);
  router.get('/bots/:id/token', createHandler());
  router.post('/bots/:id/token', ownPagesOnly, issue);
  router.post('/bots/:id/token/revoke', ownPagesOnly, revoke);
}

/** A press by someone who may not is 403; the page itself is 403 only for another account, and what is blocked. */
function toStatus({ kind }: TokenPageState, method: string): number {
  if (kind === 'author') return 200;
  return kind === 'not-an-author' || kind === 'blocked' || method === 'POST' ? 403 : 200;
}
