import type { Router } from '@koa/router';
import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import { parseQuery } from '../../http/query.ts';
import type { DemoPerson } from '../../login/demo-provider.ts';
import { callbackPath, peoplePath } from '../../login/settings.ts';
import { withLocale } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { sendOnce } from '../page/html-response.ts';
import { Layout, type Site } from '../page/layout.tsx';

/** Adds the page on which the visitors of a demo choose as whom they log in, in place of a provider's. */
export function addDemoPeopleRoute(router: Router, site: Site, people: readonly DemoPerson[]): void {
  router.get(peoplePath, (ctx) => {
    const state = parseQuery(ctx).get('state') ?? '';
    sendOnce(ctx, <PeoplePage {...{ site, people, state }} />, site.languages.of(ctx));
  });
}

interface PeoplePageProps {
  readonly site: Site;
  readonly people: readonly DemoPerson[];
  readonly state: string;
}

function PeoplePage({ site, people, state }: PeoplePageProps): VNode {
  const { t, text, publicPath } = useLanguage();
  const path = `${peoplePath}?state=${encodeURIComponent(state)}`;
  const pathIn = (locale: Locale): string => withLocale(path, locale);
  return (
    <Layout site={site} viewer={null} title={text('demo.title')} pathIn={pathIn}>
      <form class="narrow stack" action={publicPath(callbackPath)}>
        <h1>{t('demo.title')}</h1>
        <p>{t('demo.text')}</p>
        <input type="hidden" name="state" value={state} />
        {people.map(({ id, name, role, bots }) => (
          <p key={id}>
            <button name="account" value={id}>
              <bdi>{name}</bdi>
            </button>{' '}
            {t(`demo.${role}`, { bots })}
          </p>
        ))}
      </form>
    </Layout>
  );
}
