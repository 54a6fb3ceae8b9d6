import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { BotRecord, BotListElement, Category, Command } from '../../../schemas/types.ts';
import { formatIsoTime, msPerDay } from '../../bot/clock.ts';
import type { BotId } from '../../bot/id.ts';
import { english, type Locale } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import type { Catalogue, OpenCatalogue } from '../../catalogue/catalogue.ts';
import type { AcceptedReview, TrustChange } from '../../catalogue/changes/bot-changes.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import {
  type IndexedBot,
  parseListElement,
  parseRecord,
  listPageImages,
} from '../../catalogue/store/bot-index.ts';
import type { CountAt, ReadonlyCountHistory } from '../../counts/count-history.ts';
import { parseQuery } from '../../http/request.ts';
import { readBotTrust } from '../changes/changed-fields.tsx';
import { Cards, type ListedBot } from '../front/card.tsx';
import {
  type CollectionParts,
  listLinkedCollections,
  showCollection,
  type ShownCollection,
} from '../front/collections.ts';
import { chooseLocale, findLanguages, withLocale } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import type { Heading } from '../markdown/html-tree.ts';
import type { Html, Markdown } from '../markdown/markdown.ts';
import {
  toComparePath,
  toFeedPath,
  translatePath,
  listPageLanguages,
  toPathInLanguage,
} from '../page/addresses.ts';
import { assets } from '../page/assets.ts';
import { BotImage } from '../page/bot-image.tsx';
import {
  listNamedAuthors,
  withoutBidiControls,
  Breadcrumb,
  type NameLinkProps,
  Permissions,
} from '../page/elements.tsx';
import { Faults } from '../page/faults.tsx';
import { createBreadcrumbData, type LinkedData, type PageMeta } from '../page/head.tsx';
import type { PageView } from '../page/html-response.ts';
import { Layout, type PageProps } from '../page/layout.tsx';
import { Prose } from '../page/prose.tsx';
import { BotCommands } from './bot-commands.tsx';
import { BotFacts, BotHead, BotPanels, Listing } from './bot-panels.tsx';
import { findSimilarBots, listBotsOfSameAuthor, readGroups } from './related-bots.ts';
import { formatShareCardAddress, type ShareParts } from './share.tsx';

/** What the page of a bot is made from. */
export interface BotPageParts
  extends ShareParts, CollectionParts, Pick<OpenCatalogue, 'lists' | 'authors' | 'changes' | 'cache'> {
  readonly store: Pick<Catalogue['store'], 'faultsOf'>;
  readonly countHistory: ReadonlyCountHistory;
  readonly markdown: Markdown;
}

/** Returns how the page of a bot is made, in the language and with the images that the request selects. */
export async function createBotView(
  ctx: Context,
  parts: BotPageParts,
  indexed: IndexedBot,
): Promise<PageView> {
  const { site, bots, counts, countHistory, markdown } = parts;
  const { id, facts } = indexed;
  markdown.start();
  const groups = await readGroups(parts);
  const authors = await Promise.all(facts.authors.map(async (id) => await parts.authors.find(id)));
  const params = parseQuery(ctx);
  const language = site.languages.of(ctx);
  const { wanted } = language;
  const locale = chooseLocale(facts.locales, wanted) as Locale;
  const own = [...wanted.slice(0, 1), language.locale];
  const isForeign = findLanguages(own, facts.locales).length === 0;
  const blurImages = facts.nsfw && params.get('pictures') !== 'shown';
  const shown = { locale, isForeign, blurImages };
  return {
    key: { id, ...shown },
    entry: () => bots.get(id),
    render: async (props) => {
      const bot = parseRecord(indexed);
      const { name = '', page: text = '' } = bot.contents[locale] ?? {};
      const { html, headings } = await markdown.render({ text, name, images: listPageImages(indexed) });
      const today = countHistory.present();
      const { changes: trustChanges, review } = await readBotTrust(parts, id, locale);
      const reviewer = review && parts.authors.findProfile(review.reviewer)?.name;
      const isRead = await countHistory.isRead('recent');
      const languages = [locale, ...facts.locales, site.settings.language, english];
      const similar = [...findSimilarBots(groups, bot, languages)].map(([other, locale]) => {
        const [count, growth] = [counts.count(other.id), counts.growth(other.id)];
        const namesLanguage = findLanguages(own, [locale]).length === 0;
        const authors = listNamedAuthors(parts.authors, other.facts.authors);
        return { bot: parseListElement(other), locale, namesLanguage, count, growth, authors };
      });
      return (
        <BotPage
          {...{ ...props, ...shown, bot, html, headings, similar }}
          count={counts.count(id)}
          growth={counts.growth(id)}
          counts={isRead ? countHistory.counts(id, today - chartDays + 1, today) : []}
          trustChanges={trustChanges}
          review={reviewer === undefined || !review ? undefined : { ...review, reviewer }}
          reportedAge={computeAge(counts.reportedAt(id))}
          editedAge={computeAge(facts.edited) ?? 0}
          commands={JSON.parse(String(indexed.commands ?? '[]')) as Command[]}
          authors={listNamedAuthors(parts.authors, bot.authors)}
          sameAuthor={listBotsOfSameAuthor(authors, bot)}
          shareCard={parts.shareCards === null ? undefined : formatShareCardAddress(parts, bot, locale)}
          collections={listLinkedCollections(parts, id)
            .slice(0, maxCollections)
            .map(({ collection }) => showCollection(collection, [language.locale]))}
          faults={site.live ? parts.store.faultsOf(id) : []}
        />
      );
    },
  };
}

const chartDays = 90;
const maxCollections = 3;

/**
 * Returns the age of a time in milliseconds, rounded down to minutes, hours or days, so that the page changes only with
 * its text.
 */
function computeAge(time: number | undefined): number | undefined {
  if (time === undefined) return undefined;
  const age = Math.max(Date.now() - time, 0);
  const unit = [msPerDay, 3_600_000].find((size) => age >= size) ?? 60_000;
  return Math.floor(age / unit) * unit;
}

export interface BotPageProps extends PageProps {
  readonly bot: BotRecord;
  /** The language to show it in, one of the bot's. */
  readonly locale: Locale;
  /** Whether that is not the language of the reader, in which the bot has no page. */
  readonly isForeign: boolean;
  readonly count: number | undefined;
  /** By how much of itself the count has grown in 30 days. */
  readonly growth: number | undefined;
  /** The counts of the last 90 days, as far as there are any. */
  readonly counts: readonly CountAt[];
  /** What matters for trust and changed in the last 90 days. */
  readonly trustChanges: readonly TrustChange[];
  /** Who last reviewed the bot, by name, and when; undefined if that is not known. */
  readonly review: (Omit<AcceptedReview, 'reviewer'> & { readonly reviewer: string }) | undefined;
  /** How long ago the bot reported its count; milliseconds. */
  readonly reportedAge: number | undefined;
  /** How long ago its listing was updated; milliseconds. */
  readonly editedAge: number;
  readonly commands: readonly Command[];
  /** The bot's page in that language. */
  readonly html: Html;
  readonly headings: readonly Heading[];
  /** Its authors who have a name. */
  readonly authors: readonly NameLinkProps[];
  readonly sameAuthor: readonly IndexedBot[];
  /** Some of those that have the bot. */
  readonly collections: readonly ShownCollection[];
  readonly similar: readonly ListedBot[];
  /** Whether its images are blurred. */
  readonly blurImages: boolean;
  /** The address of its picture for previews of links; undefined if no images are made. */
  readonly shareCard: string | undefined;
  /** The faults of its files, for their editor only. */
  readonly faults: readonly Fault[];
}

/** With the texts of the bot in the language of the page, ready to be shown. */
export interface ShownBotProps extends BotPageProps {
  readonly name: string;
  readonly description: string;
}

export function BotPage(props: BotPageProps): VNode {
  const { site, viewer, bot, locale, isForeign, blurImages, faults } = props;
  const { text, categoryTitle } = useLanguage();
  const { name: given = '', description = '', page = '' } = bot.contents[locale] ?? {};
  const name = withoutBidiControls(given);
  const shown = { ...props, name, description: withoutBidiControls(description) };
  const category = categoryTitle(bot.category);
  const feed = { title: text('changes.of', { name }), path: toFeedPath('bot', bot.id) };
  const meta = { ...createBotMeta(shown, category), feed };
  return (
    <Layout site={site} viewer={viewer} title={name} meta={meta} script={assets.copyScript.path}>
      <Breadcrumb category={bot.category} />
      <article class="bot">
        {faults.length > 0 && <Faults faults={faults} advice="bot.lastValid" />}
        <BotHead {...shown} />
        <BotFacts {...shown} />
        {isForeign && <OtherLanguage {...props} />}
        {blurImages && <Veil {...props} />}
        <div class="bot-body">
          <Screenshots {...shown} />
          <Permissions invite={bot.invite} />
          <Prose {...props} text={page} />
          <BotCommands {...props} />
          <BotPanels {...shown} />
        </div>
        <Listing {...shown} />
      </article>
      <Similar {...props} />
    </Layout>
  );
}

/** Says which language the page is in, with a link to translate it into that of the reader, if a page may be in that. */
function OtherLanguage({ site, bot, locale }: BotPageProps): VNode {
  const { t, href, languageName, locale: own, locales } = useLanguage();
  const { languages } = site.settings;
  return (
    <p class="muted">
      {t('bot.pageLanguage', { language: languageName(locale, Object.keys(bot.contents)) })}{' '}
      {site.hasForms && (languages === null || languages.includes(own)) && (
        <a
          href={href(translatePath(bot.id as BotId, locale === findDefaultLocale(bot) ? undefined : locale))}
        >
          {t('bot.translateInto', { language: languageName(own, locales) })}
        </a>
      )}
    </p>
  );
}

/** Says why the images are blurred, with a link that shows them. */
function Veil({ bot, html }: BotPageProps): VNode | null {
  const { t, requested } = useLanguage();
  const { avatar, cover, preview } = bot.cachedImages;
  const isInPage = html?.includes('<img ') === true;
  if (avatar === null && cover === null && preview.length === 0 && !isInPage) return null;
  return (
    <p class="notice">
      {t('bot.blurred')} <a href={withLocale('?pictures=shown', requested)}>{t('bot.showImages')}</a>
    </p>
  );
}

/** Screenshots in one row that scrolls. Each opens in place, by an address of its own, which the way back closes. */
function Screenshots({ bot, blurImages, name }: ShownBotProps): VNode | null {
  const { t, text } = useLanguage();
  const images = bot.cachedImages.preview;
  if (images.length === 0) return null;
  const label = (i: number): string => text('bot.screenshot', { number: i + 1, name });
  return (
    <section class="screenshots" aria-labelledby="screenshots">
      <h2 id="screenshots" class="out-of-sight">
        {t('bot.screenshots')}
      </h2>
      <ul>
        {images.map((path, i) => (
          <li key={path}>
            <a href={`#screenshot-${i}`}>
              <BotImage
                path={path}
                alt={label(i)}
                width={640}
                height={360}
                small={320}
                larger={{ sizes: '(min-width: 60rem) 19rem, 15rem', full: 1280 }}
                lazy={i > 2}
                blurred={blurImages}
              />
            </a>
          </li>
        ))}
      </ul>
      {images.map((path, i) => (
        <a
          key={path}
          id={`screenshot-${i}`}
          class="opened"
          href="#screenshots"
          aria-label={text('bot.close')}
        >
          <img
            class={blurImages ? 'veiled' : undefined}
            src={path}
            alt=""
            width="1280"
            height="720"
            loading="lazy"
          />
        </a>
      ))}
    </section>
  );
}

function Similar({ bot, similar }: BotPageProps): VNode | null {
  const { t, href } = useLanguage();
  if (similar.length < 2) return null;
  const comparePath = toComparePath([bot, ...similar.map((other) => other.bot)].map(({ id }) => id));
  return (
    <section class="similar" aria-labelledby="similar">
      <div class="shelf-head">
        <h2 id="similar">{t('bot.similar')}</h2>
        <a rel="nofollow" href={href(comparePath)}>
          {t('compare.similar')}
        </a>
      </div>
      <Cards bots={similar} heading="h3" atOnce={0} />
    </section>
  );
}

/** The facts of a bot's page for search engines. */
export interface DescribedBot extends Pick<
  ShownBotProps,
  'site' | 'locale' | 'name' | 'description' | 'count' | 'shareCard' | 'authors'
> {
  readonly bot: BotListElement;
}

/**
 * Describes the page of a bot in one of its languages, and the bot as an application, with facts from its file and its
 * last posted count only. A preview in a chat is not blurred, so a bot for adults has no image.
 * @param category what the list of its category is called
 */
export function createBotMeta(page: DescribedBot, category: string): PageMeta {
  const { bot, site, locale, name, description, count, shareCard, authors } = page;
  const { baseUrl, canonicalUrl: home } = site;
  const { avatar, cover, preview } = bot.cachedImages;
  const main = `${home}/bots/${bot.id}`;
  const address = toPathInLanguage(main, locale, findDefaultLocale(bot));
  const toAddress = (path: string): string => new URL(path, baseUrl).href;
  const image = bot.nsfw ? null : (cover ?? shareCard ?? avatar);
  const people = authors.map(({ path, ...named }) => ({ '@type': 'Person', ...named, url: home + path }));
  const application = {
    '@context': 'https://schema.org',
    '@type': 'SoftwareApplication',
    '@id': address,
    url: address,
    name,
    description,
    author: people.length === 0 ? undefined : people,
    inLanguage: locale,
    applicationCategory: applicationCategories.get(bot.category) ?? applicationCategories.get('other'),
    datePublished: formatIsoTime(bot.created),
    dateModified: formatIsoTime(bot.edited),
    isFamilyFriendly: !bot.nsfw,
    installUrl: bot.invite,
    image: avatar === null || bot.nsfw ? undefined : toAddress(avatar),
    screenshot: preview.length === 0 || bot.nsfw ? undefined : preview.map(toAddress),
    sameAs: bot.website ?? undefined,
    softwareHelp: bot.support === null ? undefined : { '@type': 'CreativeWork', url: bot.support },
    interactionStatistic: count === undefined ? undefined : createInstallCount(count),
  };
  const list = { name: category, address: `${home}/categories/${bot.category}` };
  return {
    address,
    title: name,
    author: authors.map((author) => author.name).join(', '),
    description,
    locale,
    languages: listPageLanguages(main, Object.keys(bot.contents) as Locale[]),
    image: image === null ? undefined : { address: toAddress(image), alt: name, isWide: image !== avatar },
    isAdult: bot.nsfw,
    isListed: true,
    data: [application, createBreadcrumbData(site, list, { name, address })],
  };
}

function createInstallCount(count: number): LinkedData {
  const interactionType = { '@type': 'InstallAction' };
  return { '@type': 'InteractionCounter', interactionType, userInteractionCount: count };
}

/** Names that search engines know. */
const applicationCategories: ReadonlyMap<Category, string> = new Map(
  Object.entries({
    education: 'EducationalApplication',
    entertainment: 'EntertainmentApplication',
    fun: 'EntertainmentApplication',
    games: 'GameApplication',
    image: 'MultimediaApplication',
    moderation: 'CommunicationApplication',
    music: 'MultimediaApplication',
    news: 'CommunicationApplication',
    notifications: 'CommunicationApplication',
    other: 'CommunicationApplication',
    productivity: 'BusinessApplication',
    utility: 'UtilitiesApplication',
  }),
);
