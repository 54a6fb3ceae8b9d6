import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import type { CatalogueSizes } from '../../catalogue/lists/lists.ts';
import { directionOf } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { aboutPath } from '../page/addresses.ts';
import { findInitial } from '../page/bot-image.tsx';
import { withoutBidiControls } from '../page/elements.tsx';
import { Layout, type PageProps, SearchForm } from '../page/layout.tsx';
import { BotAvatar, BotLine, BotName, Cards, type ListedBot } from './card.tsx';
import { Tiles } from './categories-page.tsx';
import type { ShelfName } from './front-list.ts';
import { formatFrontPath, noQuery } from './front-query.ts';
import { createListMeta } from './list-page.tsx';

/** With the sizes of the catalogue without the bots for adults. */
interface FrontPageProps extends PageProps, CatalogueSizes {
  /** Those who review proposals and have a name. */
  readonly reviewers: readonly string[];
  readonly featured: FeaturedBot | null;
  readonly shelves: readonly ShownShelf[];
  /** Searches that find bots. */
  readonly examples: readonly string[];
}

/** A bot that a maintainer chose. */
interface FeaturedBot extends ListedBot {
  /** The name of the maintainer; undefined if there is none. */
  readonly by: string | undefined;
  readonly why: string;
}

/** Some bots of a list. */
interface ShownShelf {
  readonly sort: ShelfName;
  /** The public path of the whole list; undefined if all is shown. */
  readonly path: string | undefined;
  readonly bots: readonly ListedBot[];
}

/** What a visitor sees first: a search, the categories, a bot that a maintainer chose, and shelves of bots. */
export function FrontPage(props: FrontPageProps): VNode {
  const { site, viewer, total, locales, featured, shelves } = props;
  const language = useLanguage();
  const { t, text, href } = language;
  const { name, tagline, language: standard } = site.settings;
  const description = tagline ?? text('front.title');
  const meta = createListMeta({ site, query: noQuery, title: name, description, language });
  return (
    <Layout {...{ site, viewer, isFront: true, meta }}>
      <div class="hero">
        {tagline === null ? (
          <h1>{t('front.title')}</h1>
        ) : (
          <h1 lang={standard} dir={directionOf(standard)}>
            {tagline}
          </h1>
        )}
        <p>
          <Reviewers {...props} />
          {t('front.line', { count: total, languages: locales.size })}
        </p>
        <SearchForm q="" />
        <Examples {...props} />
      </div>
      <Tiles {...props} leadsToAll />
      {featured && <Featured {...featured} own={standard} />}
      {shelves.map(({ sort, path, bots }, i) => (
        <section key={sort} class="shelf" aria-labelledby={sort}>
          <div class="shelf-head">
            <h2 id={sort}>{t(`shelf.${sort}`)}</h2>
            {path !== undefined && (
              <a href={path}>
                {t('shelf.seeAll')}
                <span class="out-of-sight">: {t(`shelf.${sort}`)}</span>
              </a>
            )}
          </div>
          <Cards bots={bots} heading="h3" atOnce={i === 0 ? cardsAtOnce : 0} />
        </section>
      ))}
      {total === 0 && (
        <div class="empty">
          <h2>{t('list.empty')}</h2>
          <p>{t('list.emptyAdvice')}</p>
          {site.hasForms && (
            <a class="button" href={href('/add')}>
              {t('layout.add')}
            </a>
          )}
        </div>
      )}
    </Layout>
  );
}

/** The cards that a screen shows without scrolling. */
const cardsAtOnce = 3;

/** The initials of the first reviewers, which lead to how they review. */
function Reviewers({ reviewers }: FrontPageProps): VNode | null {
  const { text, href } = useLanguage();
  if (reviewers.length === 0) return null;
  return (
    <a class="initials" href={href(aboutPath)} aria-label={text('about.review')}>
      {reviewers.slice(0, maxInitials).map((name) => (
        <span key={name} class="initial">
          {findInitial(name)}
        </span>
      ))}
    </a>
  );
}

const maxInitials = 3;

function Examples({ examples }: FrontPageProps): VNode | null {
  const { t, href } = useLanguage();
  if (examples.length < minExamples) return null;
  return (
    <ul class="examples">
      <li>{t('front.examples')}</li>
      {examples.map((q) => (
        <li key={q}>
          <a href={href(formatFrontPath({ ...noQuery, q }))}>{q}</a>
        </li>
      ))}
    </ul>
  );
}

const minExamples = 3;

/** @param props.own the language of what the maintainer wrote */
function Featured(props: FeaturedBot & { readonly own: Locale }): VNode {
  const { bot, locale, by, why, own } = props;
  const { t, text, href } = useLanguage();
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const shown = withoutBidiControls(name);
  const path = href(`/bots/${bot.id}`);
  const language = { lang: locale, dir: directionOf(locale) };
  return (
    <section class="featured" aria-labelledby="featured">
      <a class="cover" href={path} tabIndex={-1} aria-hidden="true">
        <img src={bot.cachedImages.cover ?? ''} alt="" width="1280" height="400" />
      </a>
      <div class="words">
        <div class="headline">
          <BotAvatar {...{ bot, name: shown }} size={72} />
          <div>
            <p class="kicker">{t('front.featured')}</p>
            <h2 id="featured">
              <BotName {...props} />
            </h2>
            <BotLine {...props} />
          </div>
        </div>
        <p {...language}>{withoutBidiControls(description)}</p>
        <p class="said">
          {by !== undefined && (
            <span class="initial" aria-hidden="true">
              {findInitial(by)}
            </span>
          )}
          <span>
            {by !== undefined && t('front.chosenBy', { name: by })}{' '}
            <q lang={own} dir={directionOf(own)}>
              {why}
            </q>
          </span>
        </p>
        <ul class="actions">
          <li>
            <a class="button" href={bot.invite} rel="nofollow ugc noopener">
              {t('bot.invite')}
            </a>
          </li>
          <li>
            <a class="button quiet" href={path}>
              {text('front.see', { bot: shown })}
            </a>
          </li>
        </ul>
      </div>
    </section>
  );
}
