import type { Context, Next } from 'koa';
import type { VNode } from 'preact';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import type { ProblemError } from '../../http/problem.ts';
import { problemOf } from '../../http/problem-response.ts';
import { Layout, type Site, type Viewer } from './layout.tsx';
import { asSentence, messages } from './messages.ts';
import { sendOnce } from './html-response.ts';

/** Turns errors into pages for clients that prefer HTML. Below /api/ they stay problem documents. */
export function showErrorPages(
  site: Site,
  viewerOf: (ctx: Context) => Promise<Viewer | null>,
): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const problem = problemOf(error);
      if (problem.kind === 'unexpected' || !wantsPage(ctx)) throw error;
      const viewer = await viewerOf(ctx);
      await new TimeSlice().next();
      sendOnce(ctx, <ErrorPage {...{ site, viewer, problem }} />, problem.status);
      ctx.set({ ...problem.headers });
    }
  };
}

function wantsPage(ctx: Context): boolean {
  if (/^\/(api|appdata|hooks)\//.test(ctx.path)) return false;
  return ctx.accepts('application/problem+json', 'text/html') === 'text/html';
}

interface ErrorPageProps {
  readonly site: Site;
  readonly viewer: Viewer | null;
  readonly problem: ProblemError;
}

function ErrorPage({ site, viewer, problem }: ErrorPageProps): VNode {
  const { title, detail } = problem.toJSON();
  const isMissing = problem.kind === 'not-found';
  return (
    <Layout site={site} viewer={viewer} title={title}>
      <div class="narrow stack">
        <p class="muted">{problem.status}</p>
        <h1>{title}</h1>
        <p>{isMissing ? messages.notFoundText : asSentence(detail)}</p>
        {problem.status === 404 && <Search />}
        <p>
          <a href="/">{messages.seeAll}</a>
        </p>
      </div>
    </Layout>
  );
}

function Search(): VNode {
  return (
    <form class="search" role="search" action="/">
      <div class="query">
        <label for="q">{messages.notFoundSearch}</label>
        <input id="q" type="search" name="q" maxLength={200} placeholder={messages.searchPlaceholder} />
      </div>
      <button type="submit">{messages.searchButton}</button>
    </form>
  );
}
