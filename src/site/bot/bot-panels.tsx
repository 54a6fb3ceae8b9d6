import type { VNode } from 'preact';
import type { BotRecord } from '../../../schemas/types.ts';
import { formatIsoTime } from '../../bot/clock.ts';
import type { BotId } from '../../bot/id.ts';
import { readInvite } from '../../bot/invite.ts';
import { type Locale, directionOf } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import type { TrustChange } from '../../catalogue/changes/bot-changes.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { CountAt } from '../../counts/count-history.ts';
import { TrustChangeText, formatReview, type NamedReview } from './trust.tsx';
import { formatNoCount, type ListedBot } from '../front/card.tsx';
import type { ShownCollection } from '../front/collections.ts';
import { formatOwnName } from '../language/messages.tsx';
import {
  editPath,
  toAuthorPath,
  toBlockPath,
  toChangesPath,
  toCollectionPath,
  translatePath,
  toSourceAddress,
  toWatchPath,
} from '../page/addresses.ts';
import {
  CoverImage,
  Breadcrumb,
  Byline,
  CheckMark,
  Fact,
  LinkItem,
  NameLink,
  type NameLinkProps,
  OwnLink,
  Avatar,
  toCategoryClass,
} from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { reportAddress } from '../page/layout.tsx';
import { useLanguage, useVisit } from '../page/page-context.tsx';
import { PermissionSigns } from '../page/permissions.tsx';
import { toCommandsPath } from './bot-commands.tsx';
import { CountChart } from './count-chart.tsx';
import { ShareCodes } from './share.tsx';

/** A bot in the language of its page. */
export interface ShownBot {
  readonly bot: BotRecord;
  readonly locale: Locale;
  /** The name in that language, safe to show. */
  readonly name: string;
  readonly description: string;
}

export interface PanelsProps {
  readonly bot: BotRecord;
  /** The changes of the last 90 days that matter for trust. */
  readonly trustChanges: readonly TrustChange[];
  /** The counts of the last 90 days; some days may be missing. */
  readonly counts: readonly CountAt[];
  /** Milliseconds since the bot reported its count. */
  readonly reportedAge: number | undefined;
  readonly sameAuthor: readonly IndexedBot[];
  /** Some of the collections that include the bot. */
  readonly collections: readonly ShownCollection[];
}

/**
 * The column next to a bot's page: recent changes, counts, other bots of the author. On phones it follows the page,
 * because a page that arrives later would move it.
 */
export function BotPanels(props: PanelsProps): VNode {
  const { text } = useLanguage();
  return (
    <aside class="side" aria-label={text('bot.about')}>
      <Lately {...props} />
      <CountsPanel {...props} />
      <More {...props} />
    </aside>
  );
}

/** Recent changes that matter to people who trust the bot. */
function Lately({ trustChanges }: PanelsProps): VNode | null {
  const { t } = useLanguage();
  if (trustChanges.length === 0) return null;
  return (
    <section class="panel stack" aria-labelledby="lately">
      <h2 id="lately">{t('changes.lately')}</h2>
      <ul class="steps">
        {trustChanges.map((change) => (
          <li key={`${change.kind} ${change.since}`}>
            <TrustChangeText change={change} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The bot's counts in the last 90 days, and the time of the last one. */
function CountsPanel({ counts, reportedAge }: PanelsProps): VNode | null {
  const { t, ago } = useLanguage();
  if (reportedAge === undefined) return null;
  return (
    <section class="panel" aria-labelledby="counts">
      <h2 id="counts">{t('bot.countsTitle')}</h2>
      <CountChart counts={counts} />
      <p class="muted">
        <small>{t('bot.reported', { ago: ago(0, reportedAge) })}</small>
      </p>
    </section>
  );
}

/** Other bots of the same author, and collections that include the bot. */
function More({ bot, sameAuthor, collections }: PanelsProps): VNode | null {
  const { t, href } = useLanguage();
  const author = bot.authors.find((id) => sameAuthor[0]?.facts.authors.includes(id));
  if (author === undefined && collections.length === 0) return null;
  return (
    <nav class="panel" aria-labelledby="more">
      <h2 id="more">{t('bot.moreLinks')}</h2>
      {author !== undefined && (
        <p class="listed">
          {t('bot.sameAuthor')}:{' '}
          {sameAuthor.map(({ id, facts: { name, locales } }) => (
            <span key={id} lang={locales[0]}>
              <NameLink path={`/bots/${id}`} name={name} />
            </span>
          ))}{' '}
          <a href={href(toAuthorPath(author))}>{t('shelf.seeAll')}</a>
        </p>
      )}
      {collections.length > 0 && (
        <p class="listed">
          {t('collections.in')}:{' '}
          {collections.map(({ name, title, locale }) => (
            <span key={name} lang={locale}>
              <NameLink path={toCollectionPath(name)} name={title} />
            </span>
          ))}
        </p>
      )}
    </nav>
  );
}

/** Actions on the listing, for visitors and owners, in one row at the end of the page. */
export function Listing(props: ShownBot): VNode {
  const { bot, locale, name } = props;
  const { site, viewer } = useVisit();
  const { t, text, day, href } = useLanguage();
  const id = bot.id as BotId;
  const subject = `${text('bot.report')}: ${name} (${id})`;
  const language = locale === findDefaultLocale(bot) ? undefined : locale;
  // A visitor may be an author who is not logged in.
  const mayManage = site.hasForms && (viewer === null || bot.authors.includes(viewer.id));
  const { report } = site.settings.links;
  const page = `/bots/${id}`;
  const reportHref = report
    ? reportAddress(report, subject, site.canonicalUrl + page)
    : href(`${page}/report`);
  return (
    <section class="quiet-row" aria-label={text('bot.listing')}>
      <ul class="links">
        <LinkItem href={href(toWatchPath([id]))}>{t('watch.short')}</LinkItem>
        {site.hasForms && <LinkItem href={href(editPath(id, language))}>{t('bot.edit')}</LinkItem>}
        {site.hasForms && <LinkItem href={href(translatePath(id, language))}>{t('bot.translate')}</LinkItem>}
        <LinkItem href={href(toChangesPath(id))}>{t('changes.title')}</LinkItem>
        {mayManage && <LinkItem href={href(`/bots/${id}/token`)}>{t('bot.manage')}</LinkItem>}
        {(report || site.hasForms) && <LinkItem href={reportHref}>{t('bot.report')}</LinkItem>}
        {viewer?.toReview !== undefined && (
          <LinkItem href={href(toBlockPath('bot', id))}>{t('bot.moderate')}</LinkItem>
        )}
        <LinkItem href={href(`/api/v2/bots/${id}`)}>{t('bot.json')}</LinkItem>
        <li>
          <ShareCodes {...props} />
        </li>
        <li class="since">
          {t('bot.created')} <time dateTime={formatIsoTime(bot.created)}>{day(bot.created)}</time>
        </li>
      </ul>
      {bot.verified && (
        <p id={verifiedId}>
          <small>{t('bot.verifiedText')}</small>
        </p>
      )}
    </section>
  );
}

export interface BotHeadProps extends ShownBot {
  readonly blurImages: boolean;
  /** The authors who have a name. */
  readonly authors: readonly NameLinkProps[];
  /** The last review of the bot, with the reviewer's name; undefined if unknown. */
  readonly review: NamedReview | undefined;
}

/** The wall of a bot's page: name, description, and the link to add the bot; next to them, its pictures. */
export function BotHead(props: BotHeadProps): VNode {
  const { bot, locale, name, description, authors, review } = props;
  const { t, text } = useLanguage();
  const language = { lang: locale, dir: directionOf(locale) };
  return (
    <div class="wide bot-top">
      <div class="bot-words">
        <Breadcrumb category={bot.category} />
        <h1>
          <span {...language}>{name}</span>
          {bot.verified && (
            <a class="verified" href={`#${verifiedId}`} aria-label={text('bot.verifiedMeans')}>
              <CheckMark size={26} />
            </a>
          )}
          {bot.nsfw && <span class="tag adult">{t('bot.adult')}</span>}
        </h1>
        <p class="about" {...language}>
          {description}
        </p>
        <div class="credits">
          <Byline {...{ bot, authors }} isLinked />
          {review !== undefined && <Stamp bot={bot} review={review} />}
        </div>
        <Actions bot={bot} />
        <PermissionSigns invite={bot.invite} id={signsId} />
      </div>
      <Stage {...props} />
    </div>
  );
}

/** The last review as a stamp, with a link to the changes. It is dashed if the bot was changed since. */
function Stamp({ bot, review }: Pick<ShownBot, 'bot'> & { readonly review: NamedReview }): VNode {
  const { t, href, day } = useLanguage();
  const [first, second] = formatReview(review, t, day);
  return (
    <a
      class={review.changed === undefined ? 'stamp' : 'stamp changed'}
      href={href(toChangesPath(bot.id as BotId))}
    >
      {first} <b>{second}</b>
    </a>
  );
}

/** The cover with the avatar before it, or else the avatar alone. */
function Stage({ bot, name, blurImages }: BotHeadProps): VNode {
  const { id, category } = bot;
  const { avatar, cover } = bot.cachedImages;
  return (
    <div class="stage">
      {cover !== null && (
        <div class="cover">
          <CoverImage path={cover} blurred={blurImages} />
        </div>
      )}
      <span class={`before ${toCategoryClass(category)}`}>
        <Avatar
          {...{ id, category, name }}
          image={avatar}
          size={cover === null ? 208 : 112}
          blurred={blurImages}
        />
      </span>
    </div>
  );
}

/** The id of the sentence that explains "verified". */
const verifiedId = 'verified';

function Actions({ bot: { invite, support, website } }: { readonly bot: BotRecord }): VNode {
  const { t } = useLanguage();
  return (
    <ul class="actions">
      <li class="invite">
        <a class="button" href={invite} rel="nofollow ugc noopener" aria-describedby={signsId}>
          {t('bot.invite')}
        </a>
      </li>
      {support !== null && <OwnLink href={support}>{t('bot.support')}</OwnLink>}
      {website !== null && <OwnLink href={website}>{t('bot.website')}</OwnLink>}
    </ul>
  );
}

/** The id of the link that names the subjects which the bot can harm. */
const signsId = 'signs';

export interface BotFactsProps extends Pick<ListedBot, 'count' | 'growth'> {
  readonly bot: BotRecord;
  readonly locale: Locale;
  /** Milliseconds since the bot reported its count, and since its listing was updated. */
  readonly reportedAge: number | undefined;
  readonly editedAge: number;
  /** The number of its commands; 0 if they are not known. */
  readonly commandCount: number;
}

/** The facts for deciding whether to try a bot: always the same six, with a dash for unknown ones. */
export function BotFacts(props: BotFactsProps): VNode {
  const { bot, editedAge, reportedAge } = props;
  const language = useLanguage();
  const { t, href, ago, categoryName } = language;
  const noCount = formatNoCount(reportedAge, language);
  return (
    <dl class="bot-facts six">
      <Fact name={t('bot.serverCount')}>
        {useServerCount(props) ?? unknown}
        {noCount && <small class="warning">{noCount}</small>}
      </Fact>
      <Fact name={t('bot.category')}>
        <a href={href(`/categories/${bot.category}`)}>{categoryName(bot.category)}</a>
      </Fact>
      <Fact name={t('bot.howToUse')}>{useUsage(props) ?? unknown}</Fact>
      <Fact name={t('bot.source')}>{useSource(bot) ?? unknown}</Fact>
      <Fact name={t('bot.edited')}>
        <time dateTime={formatIsoTime(bot.edited)}>{ago(0, editedAge)}</time>
      </Fact>
      <Fact name={t('bot.language')}>
        <LanguagesOfBot {...props} />
      </Fact>
    </dl>
  );
}

const unknown = '–';

/** Formats the number of a bot's servers; null if unknown. Only for components. */
export function useServerCount({ count, growth }: Pick<ListedBot, 'count' | 'growth'>): VNode | null {
  const { integer } = useLanguage();
  if (count === undefined) return null;
  return (
    <>
      {integer(count)} {growth !== undefined && <CountGrowth growth={growth} />}
    </>
  );
}

/** The growth of the count; nothing below half a percent. */
function CountGrowth({ growth }: { readonly growth: number }): VNode | null {
  const { t } = useLanguage();
  if (Math.abs(growth) < 0.005) return null;
  return (
    <span class={growth > 0 ? 'growth up' : 'growth'}>
      {growth > 0 ? '▲' : '▼'} {t('card.percent', { change: Math.abs(growth) })}{' '}
      <span class="out-of-sight">{t(growth > 0 ? 'bot.more' : 'bot.fewer')}</span>
    </span>
  );
}

/** A link to the bot's source code; null if it is not open. Only for components. */
function useSource({ codehost }: ListedBot['bot']): VNode | null {
  const { t } = useLanguage();
  const address = toSourceAddress(codehost);
  if (address === null) return null;
  return (
    <a href={address} rel="nofollow ugc noopener">
      {t('bot.openSource', { host: 'GitHub' })}
    </a>
  );
}

/** Describes how a bot is used, by its commands, its record and its invite link; empty if these do not say. Only for components. */
export function useUsage({
  bot,
  locale,
  commandCount: count = 0,
}: Pick<ListedBot, 'bot' | 'locale'> & Partial<Pick<BotFactsProps, 'commandCount'>>): VNode | null {
  const { t, href } = useLanguage();
  const { prefix, customisable, mentionable } = bot.trigger;
  const hasCommands = count > 0 || (readInvite(bot.invite)?.commands ?? false);
  const hasPrefix = prefix.length > 0;
  if (!hasPrefix && !mentionable && !hasCommands) return null;
  const mention = <bdi>@{withoutBidiControls(bot.contents[locale]?.name ?? '')}</bdi>;
  return (
    <>
      {prefix.map((text) => (
        <>
          <kbd key={text} class="key" dir="auto">
            {withoutBidiControls(text)}
          </kbd>{' '}
        </>
      ))}
      {mentionable && (hasPrefix ? t('bot.or', { mention }) : mention)}
      {hasCommands && (hasPrefix || mentionable) && ' · '}
      {count > 0 ? (
        <a href={href(toCommandsPath(bot.id))}>{t('bot.commandCount', { count })}</a>
      ) : (
        hasCommands && t('bot.slashCommands')
      )}
      {hasPrefix && customisable && <small class="muted">{t('bot.customisable')}</small>}
    </>
  );
}

/** The language of the page, as a menu if there are others. */
function LanguagesOfBot({ bot, locale }: BotFactsProps): VNode {
  const { href } = useLanguage();
  const all = Object.keys(bot.contents);
  const others = all.filter((other) => other !== locale);
  const current = <span lang={locale}>{formatOwnName(locale, all)}</span>;
  if (others.length === 0) return current;
  return (
    <details class="menu">
      <summary>{current}</summary>
      <ul>
        {others.map((other) => (
          <li key={other}>
            <a href={href(`/bots/${bot.id}?locale=${other}`)} lang={other} hreflang={other}>
              {formatOwnName(other, all)}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
