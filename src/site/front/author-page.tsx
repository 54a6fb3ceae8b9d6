import type { VNode } from 'preact';
import { type Locale, directionOf, findLanguages } from '../../bot/locale.ts';
import { type Author, findKnownAuthor } from '../../catalogue/lists/authors.ts';
import { toAuthorPath, toFeedPath } from '../page/addresses.ts';
import { ActionLink, Fact, FollowLinks, OwnLink } from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import type { PageMeta } from '../page/head.tsx';
import type { AddPage } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { usePage, type PageParts } from '../page/page-context.tsx';
import { Cards, type ListedBot, showIn, toKey, toListed } from './card.tsx';
import type { FrontLists } from './front-list.ts';
import { formatFrontPath, noQuery } from './front-query.ts';
import { cardsAtOnce } from './list-page.tsx';

/** Adds the pages of authors. */
export function addAuthorPage(addPage: AddPage, parts: PageParts, lists: FrontLists): void {
  const { site, authors } = parts;
  addPage(toAuthorPath(':id'), async (ctx) => {
    const author = await findKnownAuthor(authors, ctx.params['id'] ?? '');
    const { id, profile, locales } = author;
    const language = site.languages.of(ctx);
    const { bots } = await lists.get({ ...noQuery, filters: { author: id } }, ctx.ip);
    const shown = showIn(language.findAmong(locales), bots);
    const described = Object.keys(profile?.description ?? {}) as Locale[];
    const { wanted } = language.findAmong(described);
    const known = [...wanted, ...findLanguages([site.settings.language], described), ...described];
    const props = { ...author, locale: known[0] };
    return {
      key: { author: id, locale: props.locale, shown: shown.map(toKey) },
      render: async () => <AuthorPage {...props} shown={toListed(parts, shown)} />,
    };
  });
}

interface AuthorPageProps extends Author {
  /** The language to show the description in; undefined without a description. */
  readonly locale: Locale | undefined;
  /** The first bots that are not for adults. */
  readonly shown: readonly ListedBot[];
}

/** An author and their bots. */
function AuthorPage(props: AuthorPageProps): VNode {
  const { id, profile, bots, since, locales, locale, shown } = props;
  const context = usePage();
  const { site, t, text, day, href, languageName } = context;
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
    locale: locale ?? context.locale,
    isListed: bots.length > 0,
    feed,
    data: profile ? [{ '@type': 'Person', name: title, url: address }] : [],
  };
  return (
    <Layout
      meta={meta}
      head={
        <>
          <h1>
            <bdi>{title}</bdi>
          </h1>
          {locale && (
            <p class="whole" {...{ lang: locale, dir: directionOf(locale) }}>
              {about}
            </p>
          )}
        </>
      }
    >
      <div class="list-head">
        {since !== null && (
          <dl class="bot-facts">
            <Fact name={t('author.since')}>{day(since)}</Fact>
            <Fact name={t('author.languages')}>
              {context.list.format(locales.map((other) => languageName(other, locales)))}
            </Fact>
          </dl>
        )}
        {website !== null && (
          <ul class="actions">
            <OwnLink href={website}>{t('bot.website')}</OwnLink>
          </ul>
        )}
        <FollowLinks path={feed.path} />
      </div>
      {shown.length > 0 && <Cards bots={shown} heading="h2" atOnce={cardsAtOnce} hidesAuthors />}
      {shown.length < bots.length && <ActionLink href={list}>{t('shelf.seeAll')}</ActionLink>}
    </Layout>
  );
}
