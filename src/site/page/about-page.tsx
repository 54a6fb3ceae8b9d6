import type { VNode } from 'preact';
import type { CatalogueSizes } from '../../catalogue/lists/lists.ts';
import { directionOf } from '../../bot/locale.ts';
import { aboutPath } from './addresses.ts';
import { listNamedAuthors, NameLink, type NameLinkProps } from './elements.tsx';
import type { AddPage } from './html-response.ts';
import { Layout, OperatorContact } from './layout.tsx';
import { usePage, type PageParts } from './page-context.tsx';

/** Adds the page about the site. */
export function addAboutPage(addPage: AddPage, { site, lists, authors, proposals }: PageParts): void {
  addPage(aboutPath, () => ({
    key: { page: aboutPath },
    render: async () => (
      <AboutPage
        sizes={await lists.sizes(false)}
        reviewers={listNamedAuthors(authors, site.settings.maintainers)}
        medianWaitMs={proposals?.list.medianWaitMs()}
      />
    ),
  }));
}

interface AboutPageProps {
  readonly sizes: CatalogueSizes;
  /** The maintainers who have a name. */
  readonly reviewers: readonly NameLinkProps[];
  /** The median time to a decision about a proposal; undefined for too few decisions. */
  readonly medianWaitMs: number | undefined;
}

function AboutPage({ sizes, reviewers, medianWaitMs }: AboutPageProps): VNode {
  const { site, t, text, duration, locale } = usePage();
  const { name, about, language } = site.settings;
  const own = { lang: language, dir: directionOf(language) };
  const title = text('about.title', { name });
  const meta = {
    address: site.canonicalUrl + aboutPath,
    title,
    description: about.text ?? title,
    locale,
  };
  return (
    <Layout meta={meta} head={<h1>{title}</h1>}>
      <div class="prose">
        {about.text !== undefined && <p {...own}>{about.text}</p>}
        <p>{t('front.line', { count: sizes.total, languages: sizes.locales.size })}</p>
        <h2 id="review">{t('about.review')}</h2>
        <p>
          {t('about.reviewText')}{' '}
          {medianWaitMs !== undefined && t('proposal.median', { time: duration(medianWaitMs) })}
        </p>
        {reviewers.length > 0 && (
          <ul>
            {reviewers.map((reviewer) => (
              <li key={reviewer.path}>
                <NameLink {...reviewer} />
              </li>
            ))}
          </ul>
        )}
        {about.rules && (
          <>
            <h2 id="rules">{t('about.rules')}</h2>
            <ol {...own}>
              {about.rules.map((rule) => (
                <li key={rule}>{rule}</li>
              ))}
            </ol>
          </>
        )}
        <h2 id="verified">{t('bot.verifiedMeans')}</h2>
        {about.verified === undefined ? <p>{t('bot.verifiedText')}</p> : <p {...own}>{about.verified}</p>}
        <h2 id="privacy">{t('about.privacy')}</h2>
        <p>{t('about.privacyText')}</p>
        {site.contact !== null && <p>{t('layout.operator', { contact: <OperatorContact /> })}</p>}
      </div>
    </Layout>
  );
}
