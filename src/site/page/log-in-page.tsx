import type { Context } from 'koa';
import type { MessageKey } from '../language/message-file.ts';
import { withParameter } from './addresses.ts';
import { sendOnce } from './html-response.ts';
import type { Site } from './layout.tsx';
import { MessagePage } from './message-page.tsx';

/**
 * Responds with a page that goes on to the login by itself, which leads back to `to`. A form cannot redirect there: browsers
 * apply `form-action` to every redirect after a form, and those lead to the provider.
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
