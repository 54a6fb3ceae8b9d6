import type { ComponentChildren, VNode } from 'preact';
import type { BotListElement, Category } from '../../../schemas/types.ts';
import { msPerDay } from '../../bot/clock.ts';
import { readInvite } from '../../bot/invite.ts';
import { chooseLocale, isIn, type Locale, directionOf } from '../../bot/locale.ts';
import type { PageOfBots } from '../../catalogue/lists/lists.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { type PageContext, type PageParts, usePage } from '../page/page-context.tsx';
import type { ReaderLanguages } from '../language/languages.ts';
import {
  Byline,
  CheckMark,
  type NameLinkProps,
  Avatar,
  type AvatarProps,
  toCategoryClass,
  listNamedAuthors,
} from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import type { Mention } from './mentions.ts';

/** A bot of a list, ready to be shown. */
export interface ListedBot {
  readonly bot: BotListElement;
  /** The language in which to show it, one of the bot's. */
  readonly locale: Locale;
  /** Whether to name that language, because the reader may not know it. */
  readonly namesLanguage?: boolean;
  readonly count: number | undefined;
  /** The growth of the count in 30 days, as a share of it. */
  readonly growth: number | undefined;
  /** The authors who have a name. */
  readonly authors: readonly NameLinkProps[];
  /** When the bot last reported a count; left out if the page does not depend on it. */
  readonly reportedAt?: number | undefined;
  /** For a bot that has the words of a search only on its page or in its commands: a piece of these; null if unknown. */
  readonly mention?: Mention | null | undefined;
}

/** A bot in the language of a reader. */
export interface ShownEntry extends Pick<ListedBot, 'locale' | 'namesLanguage'> {
  readonly bot: IndexedBot;
}

/**
 * Shows each bot in `common` if it is given; else in a language of the reader, else in one in which a search matches it,
 * else in the nearest one.
 * @param common a language in which all have a page
 * @param matched for each bot, the languages in which a search matches it
 */
export function showIn(
  { wanted, known }: ReaderLanguages,
  bots: readonly IndexedBot[],
  matched: readonly (readonly Locale[])[] = [],
  common?: Locale,
): ShownEntry[] {
  return bots.map((bot, i) => {
    const chosen = chooseLocale(bot.facts.locales, wanted) as Locale;
    const found = matched[i] ?? [];
    const isChosen = isIn(known, [chosen]) || found.includes(chosen);
    const locale = common ?? (isChosen ? chosen : (found[0] ?? chosen));
    return { bot, locale, namesLanguage: !isIn(known, [locale]) };
  });
}

/** Returns bots with the values that their cards show. */
export function toListed(
  { counts, authors }: Pick<PageParts, 'counts' | 'authors'>,
  shown: readonly ShownEntry[],
): ListedBot[] {
  return shown.map(({ bot, ...others }) => ({
    ...others,
    bot: parseListElement(bot),
    count: counts.count(bot.id),
    growth: counts.growth(bot.id),
    reportedAt: counts.reportedAt(bot.id),
    authors: listNamedAuthors(authors, bot.facts.authors),
  }));
}

/** Returns the part of an entry for the key of a cached page: many requests for languages lead to the same one. */
export function toKey({ bot, ...shown }: ShownEntry): object {
  return { id: bot.id, ...shown };
}

interface ListProps {
  /** The level of the headings. */
  readonly heading: 'h2' | 'h3';
  /** Whether bots can be ticked to compare them. */
  readonly canBeTicked?: boolean;
  /** Whether the cards hide the author, because all bots of the list have the same. */
  readonly hidesAuthors?: boolean;
  /** Splits a text at the words to mark. */
  readonly splitWords?: PageOfBots['splitWords'] | undefined;
}

export interface CardsProps extends ListProps {
  readonly bots: readonly ListedBot[];
  /** The number of cards that a large screen shows without scrolling. */
  readonly atOnce: number;
  /** Whether a large screen shows each bot in a row. */
  readonly areRows?: boolean;
  /** Whether a heading precedes the bots that only mention the words of a search, which are last. */
  readonly dividesMentions?: boolean;
}

/** A list of bots as cards. */
export function Cards({ bots, atOnce, areRows, dividesMentions, ...others }: CardsProps): VNode {
  const context = usePage();
  const firstMention = dividesMentions ? bots.findIndex(({ mention }) => mention !== undefined) : -1;
  const locales = bots.map(({ locale }) => locale);
  const tags = bots.map((bot) => listTags(bot, context, locales));
  const common = findCommonTags(tags);
  return (
    <ul class={areRows ? 'cards lines' : 'cards'}>
      {bots.flatMap((bot, i) => [
        i === firstMention && (
          <li key="mentions" class="divider">
            <h2>{context.t('list.mentioned')}</h2>
          </li>
        ),
        <Card
          key={bot.bot.id}
          {...{ ...bot, ...others }}
          {...(firstMention !== -1 &&
            i >= firstMention && { heading: 'h3', mention: bot.mention ?? undefined })}
          tags={tags[i]?.filter(({ key }) => !common.has(key))}
          lazy={i >= atOnce}
        />,
      ])}
      {others.canBeTicked && <CompareBar />}
    </ul>
  );
}

interface CardProps extends ListedBot, ListProps {
  /** The tags that distinguish the bot in its list; all tags if left out. */
  readonly tags?: readonly VNode[] | undefined;
  /** Whether the card is below the fold. */
  readonly lazy?: boolean;
}

/** A bot in a list. The whole card is a link to its page. */
export function Card(props: CardProps): VNode {
  const { bot, locale, canBeTicked, heading: Heading, lazy = false, splitWords, mention } = props;
  const context = usePage();
  const { t } = context;
  const { tags = listTags(props, context) } = props;
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const shown = withoutBidiControls(name);
  const own = { lang: locale, dir: directionOf(locale) };
  return (
    <li>
      <article class={`card ${toCategoryClass(bot.category)}`}>
        <BotAvatar {...{ bot, name: shown, lazy }} size={56} />
        <div>
          <Heading>
            <BotName {...props} />
          </Heading>
          <BotLine {...props} />
        </div>
        {canBeTicked && (
          <label class="tick">
            <input type="checkbox" name="bots" value={bot.id} form={compareFormId} />
            <span aria-hidden="true">{t('compare.short')}</span>
            <span class="out-of-sight">{t('compare.tick', { bot: shown })}</span>
          </label>
        )}
        <p class="about" {...own}>
          <Marked text={withoutBidiControls(description)} {...{ locale, splitWords }} />
        </p>
        {mention === null && <p class="found">{t('list.mentioned')}</p>}
        {mention && (
          <p class="found" lang={mention.locale} dir={directionOf(mention.locale)}>
            <Marked {...mention} splitWords={splitWords} />
          </p>
        )}
        {tags.length > 0 && (
          <div class="foot">
            <ul class="tags">{tags.slice(0, maxTags)}</ul>
          </div>
        )}
      </article>
    </li>
  );
}

/** A text with marks on the words of a search. */
function Marked({ text, locale, splitWords }: Mention & Pick<ListProps, 'splitWords'>): VNode {
  const pieces = splitWords?.(text, locale) ?? [text];
  return <>{pieces.map((piece, i) => (i % 2 === 0 ? piece : <mark key={i}>{piece}</mark>))}</>;
}

type BotNameProps = Pick<ListedBot, 'bot' | 'locale'> & Pick<ListProps, 'splitWords'>;

/** The name of a bot with a link to its page, and the sign of a verified one. */
export function BotName({ bot, locale, splitWords }: BotNameProps): VNode {
  const { text, href } = usePage();
  return (
    <>
      <a href={href(`/bots/${bot.id}`)} lang={locale} dir={directionOf(locale)}>
        <Marked text={withoutBidiControls(bot.contents[locale]?.name ?? '')} {...{ locale, splitWords }} />
      </a>
      {bot.verified && <CheckMark size={16} label={text('bot.verified')} />}
    </>
  );
}

type BotAvatarProps = Pick<ListedBot, 'bot'> & Pick<AvatarProps, 'name' | 'size' | 'lazy'>;

/** The avatar of a bot in a list, in the colour of its category if it has no image. */
export function BotAvatar({ bot, ...others }: BotAvatarProps): VNode {
  const { id, category, nsfw, cachedImages } = bot;
  return <Avatar {...{ id, category, ...others }} image={cachedImages.avatar} blurred={nsfw} />;
}

/** The first five bots, next to each other on a plank. A drawing, hidden from screen readers, because their names are elsewhere. */
export function Ledge({ bots, size }: Pick<ShelfTileProps, 'bots'> & { readonly size: number }): VNode {
  return (
    <div class="ledge" aria-hidden="true">
      {bots.slice(0, maxOnLedge).map((bot) => (
        <span key={bot.id} class={toCategoryClass(bot.category)}>
          <BotAvatar bot={bot} name={Object.values(bot.contents)[0]?.name ?? ''} size={size} lazy />
        </span>
      ))}
    </div>
  );
}

const maxOnLedge = 5;

/** The category, number of servers and authors of a bot, in one line. */
export function BotLine(props: Pick<CardProps, 'bot' | 'count' | 'authors' | 'hidesAuthors'>): VNode {
  const { bot, count, authors, hidesAuthors } = props;
  const { t, categoryName } = usePage();
  return (
    <div class="line">
      <span>{categoryName(bot.category)}</span>
      {count !== undefined && (
        <span>
          <span aria-hidden="true">{t('bot.shortServers', { count })}</span>
          <span class="out-of-sight">{t('bot.servers', { count })}</span>
        </span>
      )}
      {!hidesAuthors && authors.length > 0 && <Byline {...{ bot, authors }} isLinked={false} />}
    </div>
  );
}

/**
 * Returns a text with the days since a bot last reported a count, once they are `inactiveDays` or more; false before.
 * @param reportedAge milliseconds since it reported one
 */
export function formatNoCount(reportedAge = 0, { t, site }: PageContext): ComponentChildren {
  const days = Math.floor(reportedAge / msPerDay);
  return days >= site.settings.inactiveDays && t('card.noCount', { days });
}

/** A category or a collection, with the avatars of its first bots on a plank. */
export interface ShelfTileProps {
  readonly path: string;
  readonly title: string;
  /** The language of the title and the line, if it may not be that of the page. */
  readonly locale?: Locale;
  readonly line?: string;
  /** The number of bots. */
  readonly count: number;
  /** The name of the person who chose the bots. */
  readonly by?: string | undefined;
  /** The category whose colour the tile has. */
  readonly category: Category;
  /** The first of the bots. */
  readonly bots: readonly BotListElement[];
}

interface ShelvesProps {
  /** With a path of its own each. */
  readonly tiles: readonly ShelfTileProps[];
  /** The level of the headings. */
  readonly heading: 'h2' | 'h3';
  /** Whether the tiles are small, with the number of bots next to the title. */
  readonly isSmall?: boolean;
}

/** Links to categories or collections as tiles. */
export function Shelves({ tiles, heading, isSmall = false }: ShelvesProps): VNode {
  return (
    <ul class={isSmall ? 'shelves small' : 'shelves'}>
      {tiles.map((tile) => (
        <li key={tile.path}>
          <ShelfTile {...tile} {...{ heading, isSmall }} />
        </li>
      ))}
    </ul>
  );
}

function ShelfTile(props: ShelfTileProps & Omit<ShelvesProps, 'tiles'>): VNode {
  const { path, title, locale, line, count, by, category, bots, heading: Heading, isSmall } = props;
  const { t, href, integer } = usePage();
  const own = locale && { lang: locale, dir: directionOf(locale) };
  return (
    <a class={toCategoryClass(category)} href={href(path)}>
      <Ledge bots={bots} size={isSmall ? 46 : 64} />
      <Heading>
        <span {...own}>{title}</span>
        {isSmall && <span class="of-many">{integer(count)}</span>}
      </Heading>
      {line && (
        <p class={isSmall ? undefined : 'about'} {...own}>
          {line}
        </p>
      )}
      {!isSmall && (
        <p>
          {t('list.found', { count })}
          {by !== undefined && <> · {t('collections.by', { name: <bdi>{by}</bdi> })}</>}
        </p>
      )}
    </a>
  );
}

/** Returns the most frequent category of bots; of several, the first. */
export function findMainCategory(bots: readonly Pick<IndexedBot, 'facts'>[]): Category {
  const counts = new Map<Category, number>();
  for (const { facts } of bots) counts.set(facts.category, (counts.get(facts.category) ?? 0) + 1);
  const [first] = [...counts].toSorted(([, a], [, b]) => b - a);
  return first?.[0] ?? 'other';
}

/** Compares the ticked bots: the last item of their list. CSS counts them, and shows the bar from the first one on. */
function CompareBar(): VNode {
  const { t, href } = usePage();
  return (
    <li class="chosen">
      <form id={compareFormId} action={href('/compare')}>
        <span>{t('compare.chosen', { number: <b class="number" /> })}</span>
        <span class="one-more muted">{t('compare.oneMore')}</span>
        <button type="submit">{t('compare.short')}</button>
        <button class="plain" type="reset">
          {t('compare.clear')}
        </button>
      </form>
    </li>
  );
}

const compareFormId = 'ticked';

/** Returns the tags that distinguish a bot, warnings first, as list items with a key each. */
function listTags(
  { bot, locale, namesLanguage, growth = 0, reportedAt }: ListedBot,
  context: PageContext,
  locales: readonly Locale[] = [locale],
): VNode[] {
  const { t, languageName } = context;
  const { owner, repo } = bot.codehost;
  const [prefix] = bot.trigger.prefix;
  const noCount = formatNoCount(reportedAt && Date.now() - reportedAt, context);
  const grown = (
    <>
      <span aria-hidden="true">▲ {t('card.thisMonth', { change: growth })}</span>
      <span class="out-of-sight">{t('card.grown', { change: growth })}</span>
    </>
  );
  return [
    readInvite(bot.invite)?.fullControl === true && toTag('control', t('card.fullControl'), 'warning'),
    bot.nsfw && toTag('adult', t('bot.adult'), 'adult'),
    noCount && toTag('count', noCount, 'warning'),
    namesLanguage && toTag('language', languageName(locale, locales)),
    growth >= minGrowth && toTag('growth', grown, 'good'),
    owner !== null && repo !== null && toTag('source', t('card.openSource'), 'good'),
    prefix !== undefined && toTag('prefix', t('card.prefix', { prefix: withoutBidiControls(prefix.trim()) })),
  ].filter((node): node is VNode => node !== null && typeof node === 'object');
}

function toTag(key: string, content: ComponentChildren, look = ''): VNode {
  return (
    <li key={key} class={`tag ${look}`.trim()}>
      {content}
    </li>
  );
}

const maxTags = 2;
const minGrowth = 0.1;

/**
 * Returns the keys of tags that four of five bots of a long list have, so they distinguish few. Warnings are never
 * among them, nor languages that the reader does not have.
 */
function findCommonTags(tags: readonly (readonly VNode[])[]): ReadonlySet<unknown> {
  const keys = tags.flatMap((ofBot) => ofBot.map(({ key }) => key));
  const isCommon = (key: unknown): boolean =>
    !essential.has(key) && keys.filter((other) => other === key).length * 5 >= tags.length * 4;
  return new Set(tags.length < longList ? [] : keys.filter(isCommon));
}

const essential = new Set<unknown>(['control', 'adult', 'count', 'language']);

/** A shorter list, such as a shelf, shows all tags. */
const longList = 9;
