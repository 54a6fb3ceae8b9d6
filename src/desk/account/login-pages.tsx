import type { Router } from '@koa/router';
import type { Context, Next } from 'koa';
import { RateLimit } from '../../http/limits.ts';
import { type Cookie, createCookie, readCookie, setCookie } from '../../http/cookies.ts';
import { parseQuery, refuseCrossSite } from '../../http/request.ts';
import { originOf } from '../../lib/network.ts';
import type { DemoPerson } from '../../login/demo-provider.ts';
import type { Login } from '../../login/login.ts';
import { LoginError, type Session, callbackPath, loginErrors, peoplePath } from '../../login/session.ts';
import { EnglishSentence } from '../../site/language/messages.tsx';
import { toFormPage } from '../../site/page/addresses.ts';
import { redirectTo, sendOnce } from '../../site/page/html-response.ts';
import type { Site } from '../../site/page/page-context.tsx';
import { Layout } from '../../site/page/layout.tsx';
import { MessagePage } from '../page/elements.tsx';

/**
 * Adds logging in and out. `/login?to=<public path>` redirects to the provider; without `to`, the login returns to the
 * page that linked to it; `account=other` makes the provider ask for another account. It is a link and not a form,
 * because browsers apply `form-action` to every redirect after a form, and this one goes to the provider.
 */
export function addLoginRoutes(router: Router, site: Site, login: Login): void {
  const { baseUrl } = site;
  const loginCookie = createCookie('botshelf-login', login.basePath);
  const sessionCookie = sessionCookieOf(login);
  // Each attempt causes a few requests to the provider.
  const attempts = new RateLimit('logins', 100);
  const limit = async (ctx: Context, next: Next): Promise<void> => {
    attempts.countClient(ctx, 'too many logins come from your address, wait a minute');
    try {
      await next();
    } catch (error) {
      if (!(error instanceof LoginError)) throw error;
      sendLoginError(ctx, site, error, login.provider);
    }
  };
  router.get('/login', limit, async (ctx) => {
    const query = parseQuery(ctx);
    const path = query.get('to') ?? toReturnPath(ctx.get('Referer'), baseUrl);
    const { url, cookie } = await login.begin(path, query.get('account') === 'other');
    setCookie(ctx, loginCookie, cookie);
    redirectTo(ctx, url.startsWith('/') ? site.languages.of(ctx).href(url) : url);
  });
  router.get(callbackPath, limit, async (ctx) => {
    const cookie = readCookie(ctx, loginCookie);
    setCookie(ctx, loginCookie, null);
    const { session, to } = await login.finish(parseQuery(ctx), cookie);
    setCookie(ctx, sessionCookie, session);
    redirectTo(ctx, to);
  });
  router.post('/logout', refuseCrossSite(baseUrl), async (ctx) => {
    setCookie(ctx, sessionCookie, null);
    await login.sessions.end(readCookie(ctx, sessionCookie) ?? '');
    redirectTo(ctx, site.languages.of(ctx).href('/'));
  });
}

/** Returns the public path of an address of this site: the page with the link to the login. */
function toReturnPath(address: string, baseUrl: string): string | undefined {
  return address.startsWith(`${baseUrl}/`) ? toFormPage(address.slice(originOf(baseUrl).length)) : undefined;
}

/** Returns the session of the browser; null if nobody is or can be logged in. Renews the session when due. */
export async function readSession(ctx: Context, login: Login | null): Promise<Session | null> {
  if (login === null) return null;
  const sessionCookie = sessionCookieOf(login);
  const cookie = readCookie(ctx, sessionCookie);
  if (cookie === undefined) return null;
  const opened = await login.sessions.open(cookie);
  if (opened === undefined) setCookie(ctx, sessionCookie, null);
  else if (opened.renewal) setCookie(ctx, sessionCookie, opened.renewal);
  return opened?.session ?? null;
}

/** Records in the session that its account has read the answers to its proposals. */
export async function noteAnswersRead(ctx: Context, login: Login): Promise<void> {
  const session = await readSession(ctx, login);
  if (session) setCookie(ctx, sessionCookieOf(login), await login.sessions.renewRead(session));
}

function sessionCookieOf({ basePath }: Login): Cookie {
  return createCookie('botshelf', basePath);
}

/** Responds with the reason why a login failed, and what to do. */
function sendLoginError(ctx: Context, site: Site, { kind, message }: LoginError, provider: string): void {
  const { t, href } = site.languages.of(ctx);
  const again = kind === 'no-account' ? '/login?account=other' : '/login';
  const [to, action] =
    kind === 'misconfigured' ? (['/', 'login.home'] as const) : ([again, 'login.again'] as const);
  const page = (
    <MessagePage title={`login.${kind}.title`} to={href(to)} action={action}>
      <p>{t(`login.${kind}.text`, { provider })}</p>
      {kind === 'misconfigured' && <EnglishSentence clause={message} />}
    </MessagePage>
  );
  if (kind === 'unavailable') ctx.set('Retry-After', '60');
  sendOnce(ctx, { site, viewer: null }, page, loginErrors[kind]);
}

/** Adds the page on which visitors of a demo choose an account, instead of a provider's page. */
export function addDemoPeopleRoute(router: Router, site: Site, people: readonly DemoPerson[]): void {
  router.get(peoplePath, (ctx) => {
    const { t, text, href } = site.languages.of(ctx);
    const page = (
      <Layout title={text('demo.title')} head={<h1>{t('demo.title')}</h1>}>
        <form class="narrow stack" action={href(callbackPath)}>
          <p>{t('demo.text')}</p>
          {people.map(({ id, name, role, bots = '' }) => (
            <p key={id}>
              <button name="account" value={id}>
                {name}
              </button>
              <br />
              {t(`demo.${role}`, { bots })}
            </p>
          ))}
        </form>
      </Layout>
    );
    sendOnce(ctx, { site, viewer: null }, page);
  });
}
