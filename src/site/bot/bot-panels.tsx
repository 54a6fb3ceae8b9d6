import type { VNode } from 'preact';
import type { BotRecord } from '../../../schemas/types.ts';
import { formatIsoTime, msPerDay } from '../../bot/clock.ts';
import type { BotId } from '../../bot/id.ts';
import { type Locale, directionOf } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { CountAt } from '../../counts/count-history.ts';
import { formatReview, type NamedReview, type TrustChange, TrustChangeText } from '../changes/trust.tsx';
import type { ImagePlace } from '../../images/store.ts';
import type { ListedBot } from '../front/card.tsx';
import type { ShownCollection } from '../front/collections.tsx';
import type { Html } from '../markdown/markdown-renderer.ts';
import {
  editPath,
  toAuthorPath,
  toBlockPath,
  toChangesPath,
  toCollectionPath,
  translatePath,
  toWatchPath,
} from '../page/addresses.ts';
import {
  CoverImage,
  Breadcrumb,
  Byline,
  CheckMark,
  LinkItem,
  NameLink,
  OwnLink,
  Avatar,
  toCategoryClass,
} from '../page/elements.tsx';
import { usePage } from '../page/page-context.tsx';
import { PermissionSigns } from '../page/permissions.tsx';
import type { Usage } from './bot-commands.tsx';
import { ShareCodes } from './share.tsx';

/** The page of a bot in the language of a reader, or else in one that the bot has. */
export interface BotView extends Pick<ListedBot, 'count' | 'growth' | 'authors'> {
  readonly bot: BotRecord;
  readonly locale: Locale;
  /** The name and the description in that language, safe to show. */
  readonly name: string;
  readonly description: string;
  /** The text of the page. */
  readonly html: Html;
  /** Whether the bot has no page in the reader's language. */
  readonly isForeign: boolean;
  readonly blurImages: boolean;
  /** Milliseconds since the bot reported its count, and since its listing was updated. */
  readonly reportedAge: number | undefined;
  readonly editedAge: number;
  /** The counts of the last 90 days; some days may be missing. */
  readonly history: readonly CountAt[];
  readonly screenshots: readonly ImagePlace[];
  readonly usages: readonly Usage[];
  /** The changes of the last 90 days that matter for trust. */
  readonly trustChanges: readonly TrustChange[];
  /** The last review of the bot, with the reviewer's name; undefined if unknown. */
  readonly review: NamedReview | undefined;
  readonly similar: readonly ListedBot[];
  readonly sameAuthor: readonly IndexedBot[];
  /** Some of the collections that include the bot. */
  readonly collections: readonly ShownCollection[];
  /** The address of the share card; undefined if images are not made. */
  readonly shareCard: string | undefined;
  /** The faults of the bot's files, shown only to their editor. */
  readonly faults: readonly Fault[];
}

/**
 * The column next to a bot's page: recent changes, counts, other bots of the author. On phones it follows the page,
 * because a page that arrives later would move it.
 */
export function BotPanels(props: BotView): VNode {
  const { text } = usePage();
  return (
    <aside class="side" aria-label={text('bot.about')}>
      <Lately {...props} />
      <CountsPanel {...props} />
      <More {...props} />
    </aside>
  );
}

/** Recent changes that matter to people who trust the bot. */
function Lately({ trustChanges }: BotView): VNode | null {
  const { t } = usePage();
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
function CountsPanel({ history, reportedAge }: BotView): VNode | null {
  const { t, ago } = usePage();
  if (reportedAge === undefined) return null;
  return (
    <section class="panel" aria-labelledby="counts">
      <h2 id="counts">{t('bot.countsTitle')}</h2>
      <CountChart counts={history} />
      <p class="muted">
        <small>{t('bot.reported', { ago: ago(0, reportedAge) })}</small>
      </p>
    </section>
  );
}

/**
 * The counts of a bot over time: a line unless they are all the same, the first and the last count, and a table of all.
 * Empty for fewer than two days.
 * @param props.counts of days without gaps, ascending
 */
export function CountChart({ counts }: { readonly counts: readonly CountAt[] }): VNode | null {
  const { t, text, integer, day } = usePage();
  const [first, last] = [counts.at(0), counts.at(-1)];
  if (first === undefined || last === undefined || counts.length < 2) return null;
  const dayOf = (period: number): string => day(period * msPerDay);
  const summary = text('chart.summary', {
    first: first.count,
    firstDay: dayOf(first.period),
    last: last.count,
    lastDay: dayOf(last.period),
  });
  const line = formatLinePath(counts);
  return (
    <figure class="chart">
      {counts.some(({ count }) => count !== first.count) && (
        <svg
          role="img"
          aria-label={summary}
          viewBox={`0 0 ${chartWidth} ${chartHeight}`}
          preserveAspectRatio="none"
        >
          <path
            d={line}
            fill="none"
            stroke="currentColor"
            stroke-width="2.5"
            stroke-linejoin="round"
            vector-effect="non-scaling-stroke"
          />
          <path d={`${line}V${chartHeight}H0z`} fill="currentColor" opacity="0.09" />
        </svg>
      )}
      <figcaption>{summary}</figcaption>
      <details>
        <summary>{t('chart.showTable')}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('chart.day')}</th>
              <th scope="col">{t('bot.serverCount')}</th>
            </tr>
          </thead>
          <tbody>
            {counts.toReversed().map(({ period, count }) => (
              <tr key={period}>
                <th scope="row">{dayOf(period)}</th>
                <td>{integer(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/**
 * Returns the line through two or more counts as the `d` of an SVG path, in a box of 640 × 160: time from left to
 * right, the lowest count at the bottom, the highest at the top. The box is at least a quarter of the highest count
 * high, so that small changes stay around the middle.
 */
export function formatLinePath(counts: readonly CountAt[]): string {
  const values = counts.map(({ count }) => count);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const span = Math.max(highest - lowest, highest / 4, 1);
  const points = values.map((value, i) => {
    const x = (i / (values.length - 1)) * chartWidth;
    const y = chartHeight / 2 - ((value - (lowest + highest) / 2) / span) * (chartHeight - 2 * chartMargin);
    return `${round(x)} ${round(y)}`;
  });
  return `M${points.join('L')}`;
}

const chartWidth = 640;
const chartHeight = 160;

/** Keeps the line from being cut in half at the edges. */
const chartMargin = 4;

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Other bots of the same author, and collections that include the bot. */
function More({ bot, sameAuthor, collections }: BotView): VNode | null {
  const { t, href } = usePage();
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
export function Listing(props: BotView): VNode {
  const { bot, locale, name } = props;
  const { site, viewer, t, text, day, href } = usePage();
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

/** Returns an address for reports. A mail starts with a subject and the reported address. */
function reportAddress(address: string, subject: string, about: string): string {
  if (!address.startsWith('mailto:')) return address;
  return `${address}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(`${about}\n\n`)}`;
}

/** The wall of a bot's page: name, description, and the link to add the bot; next to them, its images. */
export function BotHead(props: BotView): VNode {
  const { bot, locale, name, description, authors } = props;
  const { t, text } = usePage();
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
          <Stamp {...props} />
        </div>
        <Actions {...props} />
        <PermissionSigns invite={bot.invite} id={signsId} />
      </div>
      <Stage {...props} />
    </div>
  );
}

/** The last review as a stamp, with a link to the changes. It is dashed if the bot was changed since. */
function Stamp({ bot, review }: BotView): VNode | null {
  const { t, href, day } = usePage();
  if (review === undefined) return null;
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
function Stage({ bot, name, blurImages }: BotView): VNode {
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

function Actions({ bot }: BotView): VNode {
  const { invite, support, website } = bot;
  const { t } = usePage();
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
