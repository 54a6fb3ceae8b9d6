import type { Context, Next } from 'koa';
import type { RenderableProps, VNode } from 'preact';
import type { BlockedName } from '../../catalogue/settings/blocked.ts';
import {
  type ProblemError,
  type ProblemKind,
  type ReportError,
  requestIdHeader,
} from '../../http/problem.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { type MessageKey, EnglishSentence } from '../language/messages.tsx';
import { useLanguage } from '../language/page-language.tsx';
import { withParameter } from './addresses.ts';
import { ActionLink } from './elements.tsx';
import { sendOnce } from './html-response.ts';
import { Layout, type PageProps, type Site, type PageOptions, OperatorContact } from './layout.tsx';

interface MessagePageProps extends PageProps {
  readonly title: MessageKey;
  /** The address and the text of the way on. */
  readonly to: string;
  readonly action: MessageKey;
}

/** A page with one message and a link to continue. */
export function MessagePage(props: RenderableProps<MessagePageProps>): VNode {
  const { site, viewer, title, to, action, children } = props;
  const { t, text } = useLanguage();
  return (
    <Layout site={site} viewer={viewer} title={text(title)} isUnlisted>
      <div class="narrow stack">
        <h1>{t(title)}</h1>
        {children}
        <ActionLink href={to}>{t(action)}</ActionLink>
      </div>
    </Layout>
  );
}

/**
 * Responds with a page that continues to the login by itself, which returns to `to`. A form cannot redirect there:
 * browsers apply `form-action` to every redirect after a form, and those lead to the provider.
 * @param to a path of this site
 * @param key the text that says what the login is for
 */
export function sendLogInPage(ctx: Context, site: Site, to: string, key: MessageKey): void {
  const language = site.languages.of(ctx);
  const address = language.href(withParameter('/login', 'to', language.href(to)));
  const page = (
    <MessagePage site={site} viewer={null} title="layout.logIn" to={address} action="layout.logIn">
      <p>{language.t(key)}</p>
    </MessagePage>
  );
  sendOnce(ctx, page, language);
  ctx.set('Refresh', `0; url=${address}`);
}

/** Turns errors into pages for clients that prefer HTML. Below /api/ they stay problem documents. */
export function showErrorPages(
  { site, viewerOf }: PageOptions,
  report: ReportError,
): (ctx: Context, next: Next) => Promise<void> {
  const showErrorPage = async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      if (!prefersPage(ctx)) throw error;
      const problem = report(ctx, error);
      // What failed may be the reading of the session.
      const viewer = problem.kind === 'unexpected' ? null : await viewerOf(ctx);
      const path = ctx.method === 'GET' ? ctx.url : '/';
      await new TimeSlice().next();
      const page = <ErrorPage {...{ site, viewer, problem, path }} />;
      sendOnce(ctx, page, site.languages.of(ctx), problem.status);
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

/** When a page that is not available reloads itself. */
const reloadSeconds = '5';

/** @param props.path where the original of a read-only copy has the same */
function ErrorPage(props: PageProps & { readonly problem: ProblemError; readonly path: string }): VNode {
  const { site, viewer, problem, path } = props;
  const { t, text } = useLanguage();
  const kind = toErrorKind(problem);
  const title = text(`error.${kind}.title`);
  const id = problem.headers[requestIdHeader];
  return (
    <Layout site={site} viewer={viewer} title={title} isUnlisted>
      <div class="narrow stack">
        <p class="muted">{problem.status}</p>
        <h1>{t(`error.${kind}.title`)}</h1>
        <p>{t(`error.${kind}.text`)}</p>
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

/** The way on from a page that has nothing to show. */
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

/** Problems whose detail says what the texts of the page do not. */
const hasOwnReason: ReadonlySet<ProblemKind> = new Set(['writes-unavailable', 'too-large']);

type ErrorKind = 'missing' | 'limited' | 'busy' | 'unexpected' | 'refused' | 'readOnly';

function toErrorKind({ kind, status }: ProblemError): ErrorKind {
  if (kind === 'not-found' || kind === 'unknown-bot') return 'missing';
  if (kind === 'read-only') return 'readOnly';
  if (kind === 'unexpected') return 'unexpected';
  if (status === 429) return 'limited';
  return status === 503 ? 'busy' : 'refused';
}

/**
 * Says that nothing is taken from an account, or with a bot; to a maintainer also why. Null if nothing is blocked.
 * @param blocked the account by default
 */
export function BlockedNotice({
  site,
  viewer,
  blocked: name = viewer?.blocked,
}: PageProps & { readonly blocked?: BlockedName }): VNode | null {
  const { t } = useLanguage();
  if (name === undefined) return null;
  return (
    <p class="notice bad" role="alert">
      {t(name.kind === 'bot' ? 'blocked.bot' : 'blocked.account')}{' '}
      {site.contact !== null && <OperatorContact contact={site.contact} />}{' '}
      {viewer?.toReview !== undefined && name.reason !== undefined && <bdi>{name.reason}</bdi>}
    </p>
  );
}
