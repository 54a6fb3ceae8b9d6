import type { Context, Next } from 'koa';
import type { VNode } from 'preact';
import {
  type ProblemError,
  type ProblemKind,
  type ReportError,
  requestIdHeader,
} from '../../http/problem.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { EnglishSentence } from '../language/messages.tsx';
import { ActionLink } from '../page/elements.tsx';
import { sendOnce } from '../page/html-response.ts';
import { useLanguage, useVisit, type PageParts } from '../page/page-context.tsx';
import { type ListNear, LostPage, type NearBots } from './lost-page.tsx';

/** Turns errors into pages for clients that prefer HTML. Below /api/, they stay problem documents. */
export function showErrorPages(
  { site, viewerOf }: Pick<PageParts, 'site' | 'viewerOf'>,
  report: ReportError,
  listNear: ListNear,
): (ctx: Context, next: Next) => Promise<void> {
  const showErrorPage = async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      if (!prefersPage(ctx)) throw error;
      const problem = report(ctx, error);
      // Reading the session may be what failed.
      const viewer = problem.kind === 'unexpected' ? null : await viewerOf(ctx);
      const path = ctx.method === 'GET' ? ctx.url : '/';
      const near = toErrorKind(problem) === 'missing' ? await listNear(ctx) : undefined;
      await new TimeSlice().next();
      sendOnce(ctx, { site, viewer }, <ErrorPage {...{ problem, path, near }} />, problem.status);
      ctx.set({ ...problem.headers });
      if ([429, 503].includes(problem.status) && ctx.method === 'GET')
        ctx.set('Refresh', problem.headers['Retry-After'] ?? reloadSeconds);
    }
  };
  return (ctx, next) => (pathsOfPrograms.test(ctx.path) ? next() : showErrorPage(ctx, next));
}

/** Whether a client prefers a page to a problem document. */
export function prefersPage(ctx: Context): boolean {
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
}): VNode {
  const { problem, path, near } = props;
  const { site } = useVisit();
  const { t, text } = useLanguage();
  const kind = toErrorKind(problem);
  const title = text(`error.${kind}.title`);
  const id = problem.headers[requestIdHeader];
  return (
    <LostPage
      {...{ title, near }}
      head={
        <>
          <p class="muted whole">{problem.status}</p>
          <h1>{t(`error.${kind}.title`)}</h1>
          <p class="whole">{t(`error.${kind}.text`)}</p>
        </>
      }
    >
      {id !== undefined && <p class="muted">{t('error.request', { id: <code>{id}</code> })}</p>}
      {hasOwnReason.has(problem.kind) && <EnglishSentence clause={problem.message} />}
      {kind === 'readOnly' && site.hasForms && (
        <ActionLink href={site.canonicalUrl + path}>{t('error.readOnly.original')}</ActionLink>
      )}
    </LostPage>
  );
}

/** Problems whose detail has more than the texts of the page. */
const hasOwnReason: ReadonlySet<ProblemKind> = new Set(['writes-unavailable', 'too-large']);

type ErrorKind = 'missing' | 'limited' | 'busy' | 'unexpected' | 'refused' | 'readOnly';

function toErrorKind({ kind, status }: ProblemError): ErrorKind {
  if (kind === 'not-found' || kind === 'unknown-bot') return 'missing';
  if (kind === 'read-only') return 'readOnly';
  if (kind === 'unexpected') return 'unexpected';
  if (status === 429) return 'limited';
  return status === 503 ? 'busy' : 'refused';
}
