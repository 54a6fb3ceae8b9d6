import type { Context } from 'koa';
import type { MessageKey } from '../language/message-file.ts';
import { withParameter } from './addresses.ts';
import { sendOnce } from './html-response.ts';
import { Layout, type Site } from './layout.tsx';
import { ActionLink } from './links.tsx';

/**
 * Responds with a page that goes on to the login by itself, which leads back to `to`. A form cannot redirect there: browsers
 * apply `form-action` to every redirect after a form, and those lead to the provider.
 * @param to a path of this site
 * @param key the text that says what the login is for
 */
export function sendLogInPage(ctx: Context, site: Site, to: string, key: MessageKey): void {
  const language = site.languages.of(ctx);
  const { t, text, href } = language;
  const address = href(withParameter('/login', 'to', href(to)));
  const page = (
    <Layout site={site} viewer={null} title={text('layout.logIn')} isUnlisted>
      <div class="narrow stack">
        <h1>{t('layout.logIn')}</h1>
        <p>{t(key)}</p>
        <ActionLink href={address}>{t('layout.logIn')}</ActionLink>
      </div>
    </Layout>
  );
  sendOnce(ctx, page, language);
  ctx.set('Refresh', `0; url=${address}`);
}
