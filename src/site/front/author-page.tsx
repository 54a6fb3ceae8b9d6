import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import type { Author } from '../../catalogue/lists/authors.ts';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { toFeedPath, toAuthorPath } from '../page/addresses.ts';
import { withoutBidiControls, Fact, ActionLink, FollowLinks, OwnLink } from '../page/elements.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import type { PageMeta } from '../page/head.tsx';
import { Cards, type ListedBot } from './card.tsx';
import { formatFrontPath, noQuery } from './front-query.ts';
import { cardsAtOnce } from './list-page.tsx';

export interface AuthorPageProps extends PageProps, Author {
  /** The language to show the description in; undefined if there is none. */
  readonly locale: Locale | undefined;
  /** The first of the bots that are not for adults. */
  readonly shown: readonly ListedBot[];
}

/** Who an author is, and their bots. */
export function AuthorPage(props: AuthorPageProps): VNode {
  const { site, viewer, id, profile, bots, since, locales, locale, shown } = props;
  const language = useLanguage();
  const { t, text, day, href, languageName } = language;
  const { website = null, description = {} } = profile ?? {};
  const title = profile ? withoutBidiControls(profile.name) : text('author.ofBots', { count: bots.length });
  const about = withoutBidiControls((locale && description[locale]) ?? '');
  const list = href(formatFrontPath({ ...noQuery, filters: { author: id } }));
  const address = site.canonicalUrl + toAuthorPath(id);
  const feed = { title, path: toFeedPath('author', id) };
  const meta: PageMeta = {
    address,
    title,
    description: about || title,
    locale: locale ?? language.locale,
    isListed: bots.length > 0,
    feed,
    data: profile ? [{ '@context': 'https://schema.org', '@type': 'Person', name: title, url: address }] : [],
  };
  return (
    <Layout {...{ site, viewer, title, meta }}>
      <div class="list-head">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {locale && <p {...{ lang: locale, dir: directionOf(locale) }}>{about}</p>}
        {since !== null && (
          <dl class="bot-facts">
            <Fact name={t('author.since')}>{day(since)}</Fact>
            <Fact name={t('author.languages')}>{language.list.format(locales.map(languageName))}</Fact>
          </dl>
        )}
        {website !== null && (
          <ul class="actions">
            <OwnLink href={website}>{t('bot.website')}</OwnLink>
          </ul>
        )}
        <FollowLinks {...{ site, path: feed.path }} />
      </div>
      {shown.length > 0 && <Cards bots={shown} heading="h2" atOnce={cardsAtOnce} hidesAuthors />}
      {shown.length < bots.length && <ActionLink href={list}>{t('shelf.seeAll')}</ActionLink>}
    </Layout>
  );
}
