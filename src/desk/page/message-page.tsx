import type { Context } from 'koa';
import type { RenderableProps, VNode } from 'preact';
import type { BlockedName } from '../../catalogue/settings/blocked.ts';
import type { MessageKey } from '../../site/language/messages.tsx';
import { withParameter } from '../../site/page/addresses.ts';
import { ActionLink } from '../../site/page/elements.tsx';
import { sendOnce } from '../../site/page/html-response.ts';
import { Layout, OperatorContact } from '../../site/page/layout.tsx';
import { type Site, useLanguage, useVisit } from '../../site/page/page-context.tsx';

interface MessagePageProps {
  readonly title: MessageKey;
  /** The address and the text of the link. */
  readonly to: string;
  readonly action: MessageKey;
}

/** A page with one message and a link to continue. */
export function MessagePage(props: RenderableProps<MessagePageProps>): VNode {
  const { title, to, action, children } = props;
  const { t, text } = useLanguage();
  return (
    <Layout title={text(title)} isUnlisted head={<h1>{t(title)}</h1>}>
      <div class="narrow stack">
        {children}
        <ActionLink href={to}>{t(action)}</ActionLink>
      </div>
    </Layout>
  );
}

/**
 * Responds with a page that continues to the login by itself; the login returns to `to`. A form cannot redirect there,
 * because browsers apply `form-action` to every redirect after a form, and this one goes to the provider.
 * @param to a path of this site
 * @param key the text with the purpose of the login
 */
export function sendLogInPage(ctx: Context, site: Site, to: string, key: MessageKey): void {
  const language = site.languages.of(ctx);
  const address = language.href(withParameter('/login', 'to', language.href(to)));
  const page = (
    <MessagePage title="layout.logIn" to={address} action="layout.logIn">
      <p>{language.t(key)}</p>
    </MessagePage>
  );
  sendOnce(ctx, { site, viewer: null }, page);
  ctx.set('Refresh', `0; url=${address}`);
}

/**
 * Tells an account that it is blocked, or that a bot is; tells a maintainer also why. Null if nothing is blocked.
 * @param props.blocked the account by default
 */
export function BlockedNotice({ blocked }: { readonly blocked?: BlockedName }): VNode | null {
  const { t } = useLanguage();
  const { viewer } = useVisit();
  const name = blocked ?? viewer?.blocked;
  if (name === undefined) return null;
  return (
    <p class="notice bad" role="alert">
      {t(name.kind === 'bot' ? 'blocked.bot' : 'blocked.account')} <OperatorContact />{' '}
      {viewer?.toReview !== undefined && name.reason !== undefined && <bdi>{name.reason}</bdi>}
    </p>
  );
}
