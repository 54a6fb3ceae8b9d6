import type { VNode } from 'preact';
import type { BotRecord } from '../../../schemas/types.ts';
import { formatIsoTime } from '../../bot/clock.ts';
import type { BotId } from '../../bot/id.ts';
import { readInvite } from '../../bot/invite.ts';
import { type Locale, directionOf } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import type { AcceptedReview, TrustChange } from '../../catalogue/changes/bot-changes.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { CountAt } from '../../counts/count-history.ts';
import { TrustChangeText } from '../changes/changed-fields.tsx';
import { formatNoCount, type ListedBot } from '../front/card.tsx';
import type { ShownCollection } from '../front/collections.ts';
import { formatOwnName } from '../language/messages.tsx';
import type { Heading } from '../markdown/html-tree.ts';
import {
  editPath,
  toAuthorPath,
  toBlockPath,
  toChangesPath,
  toCollectionPath,
  translatePath,
  toSourceAddress,
} from '../page/addresses.ts';
import { permissionsId } from './permissions.tsx';
import {
  Byline,
  withoutBidiControls,
  CheckMark,
  Fact,
  LinkItem,
  NameLink,
  type NameLinkProps,
  OwnLink,
  Avatar,
} from '../page/elements.tsx';
import { reportAddress } from '../page/layout.tsx';
import { useLanguage, useVisit } from '../page/page-context.tsx';
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
  readonly headings: readonly Heading[];
  readonly sameAuthor: readonly IndexedBot[];
  /** Some of the collections that include the bot. */
  readonly collections: readonly ShownCollection[];
}

/**
 * The column next to a bot's page: recent changes, counts, contents of the page, other bots of the author. On phones
 * it follows the page, because a page that arrives later would move it.
 */
export function BotPanels(props: PanelsProps): VNode {
  const { text } = useLanguage();
  return (
    <aside class="side" aria-label={text('bot.about')}>
      <Lately {...props} />
      <CountsPanel {...props} />
      <Contents {...props} />
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

/** Links to the headings of a page with at least three. Those of the second level are shown only if the first level has few. */
function Contents({ headings }: PanelsProps): VNode | null {
  const { t } = useLanguage();
  if (headings.length < minHeadings) return null;
  const highest = headings.filter(({ level }) => level === 2);
  const shown = highest.length < minHeadings ? headings.filter(({ level }) => level <= 3) : highest;
  return (
    <nav class="panel contents" aria-labelledby="contents">
      <h2 id="contents">{t('bot.contents')}</h2>
      <ol>
        {shown.slice(0, maxHeadings).map(({ id, text }) => (
          <li key={id}>
            <a href={`#${id}`}>
              <bdi>{withoutBidiControls(text)}</bdi>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

const minHeadings = 3;
const maxHeadings = 20;

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
  readonly review: (Omit<AcceptedReview, 'reviewer'> & { readonly reviewer: string }) | undefined;
}

/** The top of a bot's page: cover, name, description, and the link to add the bot, at the same height for every bot. */
export function BotHead(props: BotHeadProps): VNode {
  const { bot, locale, blurImages, name, description } = props;
  const { t, text } = useLanguage();
  const language = { lang: locale, dir: directionOf(locale) };
  const { avatar, cover } = bot.cachedImages;
  return (
    <header class="bot-head">
      {cover !== null && (
        <div class="cover">
          <img class={blurImages ? 'veiled' : undefined} src={cover} alt="" width="1280" height="400" />
        </div>
      )}
      <Avatar
        {...{ id: bot.id, category: bot.category, name }}
        image={avatar}
        size={104}
        blurred={blurImages}
      />
      <div class="title">
        <h1>
          <span {...language}>{name}</span>
          {bot.verified && (
            <a class="verified" href={`#${verifiedId}`} aria-label={text('bot.verifiedMeans')}>
              <CheckMark size={22} />
            </a>
          )}
          {bot.nsfw && <span class="tag adult">{t('bot.adult')}</span>}
        </h1>
        <Credits {...props} />
        <p class="about" {...language}>
          {description}
        </p>
      </div>
      <Actions bot={bot} />
    </header>
  );
}

/** The authors of the bot, and its last reviewer. */
function Credits({ bot, authors, review }: BotHeadProps): VNode {
  const { t, day, href } = useLanguage();
  return (
    <div class="credits">
      <Byline {...{ bot, authors }} isLinked />
      {review !== undefined && (
        <p>
          {t('bot.reviewedBy', {
            name: <bdi>{withoutBidiControls(review.reviewer)}</bdi>,
            day: day(review.time),
          })}
          {review.changed !== undefined && (
            <>
              {' · '}
              <a href={href(`/bots/${bot.id}/changes`)}>
                {t('bot.changedSince', { day: day(review.changed) })}
              </a>
            </>
          )}
        </p>
      )}
    </div>
  );
}

/** The id of the sentence that explains "verified". */
const verifiedId = 'verified';

function Actions({ bot: { invite, support, website } }: { readonly bot: BotRecord }): VNode {
  const { t } = useLanguage();
  const fullControl = readInvite(invite)?.fullControl ?? false;
  return (
    <ul class="actions">
      <li class="invite">
        <a
          class="button"
          href={invite}
          rel="nofollow ugc noopener"
          aria-describedby={fullControl ? 'full-control' : undefined}
        >
          {t('bot.invite')}
        </a>
        {fullControl && (
          <a id="full-control" class="warning" href={`#${permissionsId}`}>
            {t('permissions.fullControl')}
          </a>
        )}
      </li>
      {support !== null && <OwnLink href={support}>{t('bot.support')}</OwnLink>}
      {website !== null && <OwnLink href={website}>{t('bot.website')}</OwnLink>}
    </ul>
  );
}

export interface BotFactsProps extends Pick<ListedBot, 'count' | 'growth'> {
  readonly bot: BotRecord;
  readonly locale: Locale;
  /** Milliseconds since the bot reported its count, and since its listing was updated. */
  readonly reportedAge: number | undefined;
  readonly editedAge: number;
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

/** Describes how a bot is used, by its record and its invite link; empty if these do not say. Only for components. */
export function useUsage({ bot, locale }: Pick<ListedBot, 'bot' | 'locale'>): VNode | null {
  const { t } = useLanguage();
  const { prefix, customisable, mentionable } = bot.trigger;
  const hasCommands = readInvite(bot.invite)?.commands ?? false;
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
      {hasCommands && t('bot.slashCommands')}
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
