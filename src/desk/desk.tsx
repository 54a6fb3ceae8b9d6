import type { Context } from 'koa';
import { findBlocked, nothingBlocked } from '../catalogue/settings/blocked.ts';
import type { Viewer } from '../site/page/page-context.tsx';
import type { Pages } from '../site/site.tsx';
import { addDemoPeopleRoute, addLoginRoutes, readSession } from './account/login-pages.tsx';
import { addMyBotsRoute } from './account/my-bots-pages.tsx';
import { addClientRoutes } from './account/posting-code.ts';
import { addProposalRoutes } from './account/proposal-pages.tsx';
import { addTokenRoutes } from './account/token-pages.tsx';
import { addAddRoutes } from './add/add-routes.tsx';
import { addReportRoutes } from './add/report-routes.tsx';
import type { DeskParts } from './page/desk-parts.ts';
import { createOwns } from '../proposals/proposal.ts';
import { addReviewRoutes } from './review/review-routes.tsx';

/** Adds the pages behind forms and logins to those of the site, and the client packages to which the token page links. */
export function addDeskPages({ assets, pages }: Pick<Pages, 'assets' | 'pages'>, parts: DeskParts): void {
  const { config, site, login, proposals, drafts } = parts;
  addClientRoutes(assets);
  if (config.demo) addDemoPeopleRoute(pages, site, config.demo.people);
  if (login) {
    addLoginRoutes(pages, site, login);
    addMyBotsRoute(pages, parts, login);
  }
  if (proposals && drafts) {
    addProposalRoutes(pages, { ...parts, proposals, drafts });
    addReviewRoutes(pages, { ...parts, proposals, drafts });
  }
  addTokenRoutes(pages, parts);
  addAddRoutes(pages, parts);
  addReportRoutes(pages, parts);
}

/**
 * Returns a function that reads the viewer: the account, its unread answers, and for a maintainer the number of
 * waiting proposals and reports.
 */
export function createViewerReader({
  login,
  proposals,
  reports,
  blocked,
  bots,
}: Pick<DeskParts, 'login' | 'proposals' | 'reports' | 'blocked' | 'bots'>): (
  ctx: Context,
) => Promise<Viewer | null> {
  return async (ctx) => {
    const session = await readSession(ctx, login);
    if (session === null) return null;
    const [name] = findBlocked(blocked.current ?? nothingBlocked, { authors: [session.id] });
    const owns = createOwns(bots, session.id);
    const answered = proposals?.list.listAnswered(session.id, session.readAt, owns) ?? [];
    const viewer = { ...session, blocked: name, answered };
    // Without Git, pages are still shown.
    if (proposals === null || !(await proposals.isMaintainer(session.id).catch(() => false))) return viewer;
    return { ...viewer, toReview: proposals.list.waiting.length + reports.list().length };
  };
}
