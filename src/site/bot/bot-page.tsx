import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import { formatIsoTime, msPerDay } from '../../bot/clock.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { english, type Locale, chooseLocale, findLanguages } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import {
  type IndexedBot,
  parseRecord,
  listPageImages,
  findKnownBot,
} from '../../catalogue/store/bot-index.ts';
import { parseQuery } from '../../http/request.ts';
import { basePathOf } from '../../lib/network.ts';
import { readBotTrust } from '../changes/trust.tsx';
import { Cards, type ListedBot, toListed } from '../front/card.tsx';
import { listLinkedCollections, showCollection } from '../front/collections.tsx';
import { formatFrontPath, isFront, noQuery, readFrontQuery } from '../front/front-query.ts';
import type { MessageKey } from '../language/messages.tsx';
import {
  toComparePath,
  toFeedPath,
  translatePath,
  listPageLanguages,
  toPathInLanguage,
  withLocale,
} from '../page/addresses.ts';
import { BotImage, FaultItems, listNamedAuthors, Prose } from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { createBreadcrumbData, type LinkedData, type PageMeta } from '../page/head.tsx';
import { type AddPage, type PageView, sendOnce } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { type Site, usePage, type PageParts } from '../page/page-context.tsx';
import { PermissionLabel } from '../page/permissions.tsx';
import { addCommandsPage, BotCommands, listUsages } from './bot-commands.tsx';
import { BotHead, BotPanels, type BotView, Listing } from './bot-panels.tsx';
import { BotFacts } from './bot-facts.tsx';
import { findBotOfName } from './named-bots.ts';
import { findSimilarBots, listBotsOfSameAuthor } from './related-bots.ts';
import { formatShareCardAddress } from './share.tsx';

/** Adds the pages of bots. A path with a bot's name leads to its page, or to a list of all bots of that name. */
export function addBotPages(addPage: AddPage, parts: PageParts): void {
  const { site, bots, store } = parts;
  // `/bots` is a bot's address cut short: it leads to the list; if the site itself is at `/bots`, to its front page.
  const shortened = basePathOf(site.baseUrl) === '/bots' ? '/' : '/?sort=popular';
  addPage('/bots', (ctx) => {
    ctx.status = 301;
    const query = readFrontQuery(parseQuery(ctx), undefined);
    return isFront(query) ? shortened : formatFrontPath(query);
  });
  addPage('/bots/:id', async (ctx) => {
    const { id: text = '' } = ctx.params;
    const id = parseBotId(text);
    const named = id ? undefined : await findBotOfName(text, parts);
    if (named) return `/bots/${named.id}${ctx.search}`;
    if (named === null) return formatFrontPath({ ...noQuery, q: text });
    const faults = site.live && id && bots.get(id) === undefined ? store.faultsOf(id) : [];
    if (faults.length === 0) return await createBotView(ctx, parts, findKnownBot(bots, text));
    sendOnce(ctx, { site, viewer: null }, <FaultyBotPage {...{ id: text, faults }} />, 404);
    return undefined;
  });
  addCommandsPage(addPage, parts);
}

/** Returns the view of a bot's page, in the language and with the images that the request selects. */
async function createBotView(ctx: Context, parts: PageParts, indexed: IndexedBot): Promise<PageView> {
  const { site, bots, counts, countHistory, markdown, authors } = parts;
  const { id, facts } = indexed;
  const allAuthors = await Promise.all(facts.authors.map(async (account) => await authors.find(account)));
  const language = site.languages.of(ctx);
  const { wanted } = language;
  const locale = chooseLocale(facts.locales, wanted) as Locale;
  const own = [...wanted.slice(0, 1), language.locale];
  const isForeign = findLanguages(own, facts.locales).length === 0;
  const blurImages = parseQuery(ctx).get('pictures') !== 'shown' && facts.nsfw;
  const shown = { locale, isForeign, blurImages };
  const render = async (): Promise<VNode> => {
    const bot = parseRecord(indexed);
    const { name = '', description = '', page: text = '' } = bot.contents[locale] ?? {};
    const { html } = await markdown.render({ text, name, images: listPageImages(indexed) });
    const { changes: trustChanges, review } = await readBotTrust(parts, id, locale);
    const isRead = await countHistory.isRead('recent');
    const today = countHistory.present();
    const languages = [locale, ...facts.locales, site.settings.language, english];
    const similar = [...(await findSimilarBots(parts, bot, languages))].map(([other, locale]) => {
      return { bot: other, locale, namesLanguage: findLanguages(own, [locale]).length === 0 };
    });
    return (
      <BotPage
        {...{ bot, ...shown, html, review, trustChanges }}
        similar={toListed(parts, similar).map((other) => ({ ...other, reportedAt: undefined }))}
        name={withoutBidiControls(name)}
        description={withoutBidiControls(description)}
        authors={listNamedAuthors(authors, bot.authors)}
        count={counts.count(id)}
        growth={counts.growth(id)}
        reportedAge={computeAge(counts.reportedAt(id))}
        editedAge={computeAge(facts.edited) ?? 0}
        screenshots={bot.images.preview.flatMap((url) => parts.findImage(url) ?? [])}
        usages={listUsages(indexed, language.locale)}
        history={isRead ? countHistory.counts(id, today - chartDays + 1, today) : []}
        sameAuthor={listBotsOfSameAuthor(allAuthors, bot)}
        collections={listLinkedCollections(parts, id)
          .slice(0, maxCollections)
          .map(({ collection }) => showCollection(collection, [language.locale]))}
        shareCard={parts.shareCards === null ? undefined : formatShareCardAddress(parts, bot, locale, review)}
        faults={site.live ? parts.store.faultsOf(id) : []}
      />
    );
  };
  return { key: { id, ...shown }, entry: () => bots.get(id), render };
}

const chartDays = 90;
const maxCollections = 3;

/** Returns the age of a time in milliseconds, rounded down to minutes, hours or days, so that the page only changes with its text. */
function computeAge(time: number | undefined): number | undefined {
  if (time === undefined) return undefined;
  const age = Math.max(Date.now() - time, 0);
  const unit = [msPerDay, 3_600_000].find((size) => age >= size) ?? 60_000;
  return Math.floor(age / unit) * unit;
}

/** The page of a bot in the language of the reader, or else in one that the bot has. */
export function BotPage(view: BotView): VNode {
  const { bot, locale, name, html, blurImages, similar, faults } = view;
  const { site, text, categoryTitle } = usePage();
  const feed = { title: text('changes.of', { name }), path: toFeedPath('bot', bot.id) };
  const meta = { ...createBotMeta(site, view, categoryTitle(bot.category)), feed };
  return (
    <Layout meta={meta} script="copyScript" category={bot.category} wall={<BotHead {...view} />}>
      <article class="bot">
        {faults.length > 0 && <Faults faults={faults} advice="bot.lastValid" />}
        <BotFacts {...view} />
        {view.isForeign && <OtherLanguage {...view} />}
        {blurImages && <Veil {...view} />}
        <Screenshots {...view} />
        <div class="bot-body">
          <PermissionLabel invite={bot.invite} />
          <div class="bot-text">
            <Prose {...{ locale, html, blurImages }} text={bot.contents[locale]?.page ?? ''} />
            <BotCommands id={bot.id} usages={view.usages} />
          </div>
          <BotPanels {...view} />
        </div>
        <Listing {...view} />
      </article>
      {similar.length > 1 && <Similar bot={bot} similar={similar} />}
    </Layout>
  );
}

/** Names the language of the page, with a link to translate it into the reader's, if pages may be in that language. */
function OtherLanguage({ bot, locale }: BotView): VNode {
  const { site, t, href, languageName, locale: own, locales } = usePage();
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

/** Explains why the images are blurred, with a link that shows them. */
function Veil({ bot, html }: BotView): VNode | null {
  const { t, requested } = usePage();
  const { avatar, cover, preview } = bot.cachedImages;
  const isInPage = html?.includes('<img ') === true;
  if (avatar === null && cover === null && preview.length === 0 && !isInPage) return null;
  return (
    <p class="notice">
      {t('bot.blurred')} <a href={withLocale('?pictures=shown', requested)}>{t('bot.showImages')}</a>
    </p>
  );
}

/**
 * Screenshots in one scrolling row. Each opens in place under its own address, with links to the next ones; the
 * browser's back button closes it.
 */
function Screenshots({ screenshots, blurImages, name }: BotView): VNode | null {
  const { t, text } = usePage();
  if (screenshots.length === 0) return null;
  const label = (i: number): string => text('bot.screenshot', { number: i + 1, name });
  return (
    <section class="screenshots" aria-labelledby="screenshots">
      <h2 id="screenshots" class="out-of-sight">
        {t('bot.screenshots')}
      </h2>
      <ul>
        {screenshots.map(({ path, width, height }, i) => (
          <li key={path}>
            <a href={`#screenshot-${i}`}>
              <BotImage
                {...{ path, width, height }}
                alt={label(i)}
                // The smaller copy fits into a square, so an upright image's is narrower than the number in its name.
                small={width > smallScreenshotPx && width >= height ? smallScreenshotPx : undefined}
                larger={{ sizes: formatSizes(width / height), full: width }}
                lazy={i > 2}
                blurred={blurImages}
              />
            </a>
          </li>
        ))}
      </ul>
      {screenshots.map(({ path, width, height }, i) => (
        <div key={path} id={`screenshot-${i}`} class="opened">
          <a class="close" href="#screenshots" aria-label={text('bot.close')}>
            <BotImage {...{ path, width, height }} alt="" small={undefined} lazy blurred={blurImages} />
          </a>
          {i > 0 && <a class="earlier" href={`#screenshot-${i - 1}`} aria-label={text('list.previous')} />}
          {i < screenshots.length - 1 && (
            <a class="later" href={`#screenshot-${i + 1}`} aria-label={text('list.next')} />
          )}
        </div>
      ))}
    </section>
  );
}

const smallScreenshotPx = 640;

/** Returns the widths of a screenshot of these proportions, whose height assets/site.css sets. */
function formatSizes(ratio: number): string {
  return `(max-width: 40rem) ${Math.round(44 * ratio)}vw, ${Math.round(280 * ratio)}px`;
}

function Similar({ bot, similar }: Pick<BotView, 'bot' | 'similar'>): VNode {
  const { t, href } = usePage();
  const comparePath = toComparePath([bot, ...similar.map((other) => other.bot)].map(({ id }) => id));
  return (
    <section class="shelf similar" aria-labelledby="similar">
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

type FaultsProps = Pick<BotView, 'faults'> & { readonly advice: MessageKey };

/** The faults of a bot's files, shown only to their editor. */
function Faults({ faults, advice }: FaultsProps): VNode {
  const { t } = usePage();
  return (
    <section class="notice bad" role="alert" aria-labelledby="faults">
      <h2 id="faults">{t('bot.faults')}</h2>
      <p>{t(advice)}</p>
      <FaultItems faults={faults} />
    </section>
  );
}

/** The page of a bot whose files have never been valid, shown only to their editor. */
function FaultyBotPage({ id, faults }: Pick<BotView, 'faults'> & { readonly id: string }): VNode {
  return (
    <Layout title={id} head={<h1>{id}</h1>}>
      <Faults faults={faults} advice="bot.neverValid" />
    </Layout>
  );
}

/** The values that describe a bot's page to search engines. */
export type DescribedBot = Pick<BotView, 'locale' | 'name' | 'description' | 'authors' | 'shareCard'> &
  Pick<ListedBot, 'bot' | 'count'>;

/**
 * Describes a bot's page in one language, and the bot as an application, only with facts from its file and its last
 * count. Previews in chats are not blurred, so a bot for adults has no image.
 * @param category the title of the category's list
 */
export function createBotMeta(site: Site, page: DescribedBot, category: string): PageMeta {
  const { bot, locale, name, description, count, shareCard, authors } = page;
  const { baseUrl, canonicalUrl: home } = site;
  const { avatar, cover, preview } = bot.cachedImages;
  const main = `${home}/bots/${bot.id}`;
  const address = toPathInLanguage(main, locale, findDefaultLocale(bot));
  const toAddress = (path: string): string => new URL(path, baseUrl).href;
  const image = bot.nsfw ? null : (cover ?? shareCard ?? avatar);
  const people = authors.map(({ path, ...named }) => ({ '@type': 'Person', ...named, url: home + path }));
  const application = {
    '@type': 'SoftwareApplication',
    '@id': address,
    url: address,
    name,
    description,
    author: people.length === 0 ? undefined : people,
    inLanguage: locale,
    applicationCategory: applicationCategories.get(bot.category) ?? 'CommunicationApplication',
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
    music: 'MultimediaApplication',
    productivity: 'BusinessApplication',
    utility: 'UtilitiesApplication',
  }),
);
