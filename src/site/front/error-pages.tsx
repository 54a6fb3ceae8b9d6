import type { Context, Middleware } from 'koa';
import type { VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import type { BotId } from '../../bot/id.ts';
import { botsFolder, folderOf } from '../../catalogue/page/layout.ts';
import { ProblemError, type ProblemKind, type ReportError, requestIdHeader } from '../../http/problem.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { EnglishSentence } from '../language/messages.tsx';
import { ActionLink, LinkItem } from '../page/elements.tsx';
import { sendOnce } from '../page/html-response.ts';
import { useLanguage, useVisit, type PageParts } from '../page/page-context.tsx';
import { type ListNear, LostPage, type NearBots } from './lost-page.tsx';

/** The removal of the bot that a request is for. */
interface Removal {
  readonly id: BotId;
  /** When it was removed, in milliseconds since the epoch. */
  readonly time: number;
  /** Reads the category that it had; undefined if the list has no such category now. @throws {GitError} */
  readonly readCategory: () => Promise<Category | undefined>;
}

/** Returns the removal of the bot that an error is about; undefined for any other error. */
export type FindRemoved = (error: unknown) => Promise<Removal | undefined>;

/**
 * Responds 410 to requests for removed bots, and turns errors into pages for clients that prefer HTML. Below /api/,
 * they stay problem documents, and every unknown bot is a 404.
 */
export function showErrorPages(
  { site, viewerOf }: Pick<PageParts, 'site' | 'viewerOf'>,
  report: ReportError,
  findRemoved: FindRemoved,
  listNear: ListNear,
): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (cause) {
      if (pathsOfPrograms.test(ctx.path)) throw cause;
      let error: unknown = cause;
      const removed = await findRemoved(cause).catch((failure: unknown) => void (error = failure));
      if (removed) error = new ProblemError('removed-bot', `the bot ${removed.id} was removed`);
      if (!prefersPage(ctx)) throw error;
      const problem = report(ctx, error);
      // Reading the session may be what failed.
      const viewer = problem.kind === 'unexpected' ? null : await viewerOf(ctx);
      const path = ctx.method === 'GET' ? ctx.url : '/';
      const category = await removed?.readCategory().catch(() => undefined);
      const hasNear = ['missing', 'removed'].includes(toErrorKind(problem));
      const near = hasNear ? await listNear(ctx, category) : undefined;
      await new TimeSlice().next();
      sendOnce(ctx, { site, viewer }, <ErrorPage {...{ problem, path, near, removed }} />, problem.status);
      ctx.set({ ...problem.headers });
      if ([429, 503].includes(problem.status) && ctx.method === 'GET')
        ctx.set('Refresh', problem.headers['Retry-After'] ?? reloadSeconds);
    }
  };
}

/** Whether a client prefers a page to a problem document. */
function prefersPage(ctx: Context): boolean {
  return ctx.accepts('application/problem+json', 'text/html') === 'text/html';
}

const pathsOfPrograms = /^\/(api|appdata|hooks)\//;

/** Seconds after which a page that is not available reloads itself. */
const reloadSeconds = '5';

/** @param props.path the path of the page at the original, on a read-only copy */
function ErrorPage(props: {
  readonly problem: ProblemError;
  readonly path: string;
  readonly near: NearBots | undefined;
  readonly removed: Removal | undefined;
}): VNode {
  const { problem, path, near, removed } = props;
  const { site } = useVisit();
  const { t, text, day, href } = useLanguage();
  const kind = toErrorKind(problem);
  const title = text(`error.${kind}.title`);
  const id = problem.headers[requestIdHeader];
  const values = removed && {
    id: <code>{removed.id}</code>,
    day: <time dateTime={new Date(removed.time).toISOString()}>{day(removed.time)}</time>,
  };
  return (
    <LostPage
      {...{ title, near }}
      head={
        <>
          <p class="muted whole">{problem.status}</p>
          <h1>{t(`error.${kind}.title`)}</h1>
          <p class="whole">{t(`error.${kind}.text`, values)}</p>
        </>
      }
    >
      {id !== undefined && <p class="muted">{t('error.request', { id: <code>{id}</code> })}</p>}
      {hasOwnReason.has(problem.kind) && <EnglishSentence clause={problem.message} />}
      {kind === 'readOnly' && site.hasForms && (
        <ActionLink href={site.canonicalUrl + path}>{t('error.readOnly.original')}</ActionLink>
      )}
      {removed && (
        <>
          <p>{t('error.removed.owner')}</p>
          <ul class="links">
            {site.repository && (
              <LinkItem href={site.repository.history(`${botsFolder}/${folderOf(removed.id)}`)}>
                {t('bot.history')}
              </LinkItem>
            )}
            {site.hasForms && <LinkItem href={href('/add')}>{t('layout.add')}</LinkItem>}
          </ul>
        </>
      )}
    </LostPage>
  );
}

/** Problems whose detail has more than the texts of the page. */
const hasOwnReason: ReadonlySet<ProblemKind> = new Set(['writes-unavailable', 'too-large']);

type ErrorKind = 'missing' | 'limited' | 'busy' | 'unexpected' | 'refused' | 'readOnly' | 'removed';

function toErrorKind({ kind, status }: ProblemError): ErrorKind {
  if (kind === 'not-found' || kind === 'unknown-bot') return 'missing';
  if (kind === 'removed-bot') return 'removed';
  if (kind === 'read-only') return 'readOnly';
  if (kind === 'unexpected') return 'unexpected';
  if (status === 429) return 'limited';
  return status === 503 ? 'busy' : 'refused';
}
