import type { Context, Middleware } from 'koa';
import type { VNode, ComponentChildren } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import type { BotId } from '../../bot/id.ts';
import { botsFolder, folderOf } from '../../catalogue/page/layout.ts';
import { ProblemError, type ProblemKind, type ReportError, requestIdHeader } from '../../http/problem.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { EnglishSentence } from '../language/messages.tsx';
import { ActionLink, LinkItem } from '../page/elements.tsx';
import { sendOnce } from '../page/html-response.ts';
import { usePage, type PageParts } from '../page/page-context.tsx';
import { Layout, SearchForm } from '../page/layout.tsx';
import { Cards, type ListedBot, showIn, toListed } from './card.tsx';
import type { FrontLists } from './front-list.ts';
import { formatFrontPath, noQuery } from './front-query.ts';

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

/** Three bots on many servers, for a page without content. */
export interface NearBots {
  /** The category of all of them; undefined for bots of any category. */
  readonly category: Category | undefined;
  readonly bots: readonly ListedBot[];
}

/** Lists the bots on most servers, of a category if it has any. Returns no bots if the lists cannot be read. */
export type ListNear = (ctx: Context, category?: Category) => Promise<NearBots>;

/** Returns a function that takes the bots from a list that many pages share, so that a flood of lost pages is cheap. */
export function createNearLister(lists: FrontLists, parts: PageParts): ListNear {
  const list: ListNear = async (ctx, category) => {
    const query = { ...noQuery, category, sort: 'popular' as const };
    const { bots, nearest, languages } = await lists.get(query, ctx.ip);
    const reader = parts.site.languages.of(ctx).findAmong(languages);
    const [own, shown] = bots.length > 0 ? [category, bots.slice(0, maxNear)] : [undefined, nearest];
    return { category: own, bots: toListed(parts, showIn(reader, shown)) };
  };
  return async (...options) => await list(...options).catch(() => ({ category: undefined, bots: [] }));
}

const maxNear = 3;

interface LostPageProps {
  readonly title: string;
  /** The heading and the lines below it. */
  readonly head: ComponentChildren;
  /** The bots to show instead; undefined if the catalogue may not be there, so that the page has no search either. */
  readonly near: NearBots | undefined;
  /** Whether the bots can be ticked to compare them. */
  readonly canBeTicked?: boolean;
  readonly children?: ComponentChildren;
}

/** A page without the content that was asked for: an empty shelf, a search and some bots. */
export function LostPage({ title, head, near, canBeTicked = false, children }: LostPageProps): VNode {
  const { t, href, categoryTitle } = usePage();
  const { category, bots = [] } = near ?? {};
  const all = href(formatFrontPath({ ...noQuery, category, sort: 'popular' }));
  return (
    <Layout
      {...{ title }}
      isUnlisted
      hasSearch={near !== undefined}
      head={
        <>
          {head}
          {near && <SearchForm q="" isFocused />}
        </>
      }
      beside={<EmptyShelf />}
    >
      <div class="narrow stack">
        {children}
        {bots.length === 0 && <a href={all}>{t('list.seeAll')}</a>}
      </div>
      {bots.length > 0 && (
        <section class="shelf" aria-labelledby="near">
          <div class="shelf-head">
            <h2 id="near">{category ? categoryTitle(category) : t('error.near')}</h2>
            <a href={all}>{t(category ? 'shelf.seeAll' : 'list.seeAll')}</a>
          </div>
          <Cards {...{ bots, canBeTicked }} heading="h3" atOnce={maxNear} />
        </section>
      )}
    </Layout>
  );
}

/** The drawing of a shelf with gaps. */
export function EmptyShelf(): VNode {
  return (
    <svg class="drawing" width="380" height="170" viewBox="0 0 380 170" aria-hidden="true">
      <g stroke="var(--plank)" stroke-width="3" stroke-linejoin="round">
        <path d="M18 60h26v109H18z" fill="oklch(72% 0.1 152)" />
        <path d="M44 40h34v129H44z" fill="oklch(76% 0.1 48)" />
        <path d="M78 74h22v95H78z" fill="oklch(74% 0.09 252)" />
        <path d="M44 66h34v26H44zM18 80h26M18 88h26" fill="var(--surface)" />
        <path d="M318 62l30 6-20 101h-30zM312 92l30 6" fill="oklch(74% 0.1 316)" />
      </g>
      <path
        class="gone"
        d="M122 169V91q0-12 12-12h66q12 0 12 12v78M236 169v-58q0-10 10-10h46q10 0 10 10v58"
      />
    </svg>
  );
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
  const { site, t, text, day, href } = usePage();
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
