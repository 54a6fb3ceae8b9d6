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
import { ActionLink } from './elements.tsx';
import { sendOnce } from './html-response.ts';
import { Layout } from './layout.tsx';
import { useLanguage, useVisit, type PageParts } from './page-context.tsx';

/** Turns errors into pages for clients that prefer HTML. Below /api/, they stay problem documents. */
export function showErrorPages(
  { site, viewerOf }: Pick<PageParts, 'site' | 'viewerOf'>,
  report: ReportError,
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
      await new TimeSlice().next();
      sendOnce(ctx, { site, viewer }, <ErrorPage {...{ problem, path }} />, problem.status);
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
function ErrorPage(props: { readonly problem: ProblemError; readonly path: string }): VNode {
  const { problem, path } = props;
  const { site } = useVisit();
  const { t, text } = useLanguage();
  const kind = toErrorKind(problem);
  const title = text(`error.${kind}.title`);
  const id = problem.headers[requestIdHeader];
  return (
    <Layout
      title={title}
      isUnlisted
      head={
        <>
          <p class="muted whole">{problem.status}</p>
          <h1>{t(`error.${kind}.title`)}</h1>
          <p class="whole">{t(`error.${kind}.text`)}</p>
        </>
      }
    >
      <div class="narrow stack">
        {id !== undefined && <p class="muted">{t('error.request', { id: <code>{id}</code> })}</p>}
        {hasOwnReason.has(problem.kind) && <EnglishSentence clause={problem.message} />}
        {kind === 'readOnly' && site.hasForms && (
          <ActionLink href={site.canonicalUrl + path}>{t('error.readOnly.original')}</ActionLink>
        )}
        <AllBotsLink />
      </div>
    </Layout>
  );
}

/** The link from a page without content to all bots. */
export function AllBotsLink(): VNode {
  const { t, href } = useLanguage();
  return (
    <p>
      <a class="button quiet" href={href('/?sort=popular')}>
        {t('list.seeAll')}
      </a>
    </p>
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
