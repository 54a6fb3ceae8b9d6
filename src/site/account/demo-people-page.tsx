import type { Router } from '@koa/router';
import type { DemoPerson } from '../../login/demo-provider.ts';
import { callbackPath, peoplePath } from '../../login/settings.ts';
import { sendOnce } from '../page/html-response.ts';
import { Layout, type Site } from '../page/layout.tsx';

/** Adds the page on which the visitors of a demo choose as whom they log in, in place of a provider's. */
export function addDemoPeopleRoute(router: Router, site: Site, people: readonly DemoPerson[]): void {
  router.get(peoplePath, (ctx) => {
    const language = site.languages.of(ctx);
    const { t, text, publicPath } = language;
    const page = (
      <Layout site={site} viewer={null} title={text('demo.title')}>
        <form class="narrow stack" action={publicPath(callbackPath)}>
          <h1>{t('demo.title')}</h1>
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
    sendOnce(ctx, page, language);
  });
}
