import type { VNode } from 'preact';
import type { BotRecord } from '../../../schemas/types.ts';
import type { BotId } from '../../bot/id.ts';
import { readInvite } from '../../bot/invite.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import { TrustChangeText } from '../changes/changed-fields.tsx';
import { type ListedBot, useNoCount } from '../front/card.tsx';
import { directionOf, formatOwnName } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import {
  editPath,
  toAuthorPath,
  toChangesPath,
  toCollectionPath,
  translatePath,
  toSourceAddress,
} from '../page/addresses.ts';
import { Avatar } from '../page/bot-image.tsx';
import {
  Byline,
  withoutBidiControls,
  CheckMark,
  Fact,
  LinkItem,
  NameLink,
  type NameLinkProps,
  OwnLink,
  Permissions,
  permissionsId,
} from '../page/elements.tsx';
import { reportAddress } from '../page/layout.tsx';
import type { ShownBotProps } from './bot-page.tsx';
import { CountChart } from './count-chart.tsx';
import { ShareCodes } from './share.tsx';

/**
 * The column next to a bot's page: the permissions it requests, its counts, what is on the page, other bots of its author,
 * and its listing. On phones it comes after the page: what is painted first would be moved by a page that arrives later.
 */
export function BotPanels(props: ShownBotProps): VNode {
  const { text } = useLanguage();
  const sameAuthor = props.sameAuthor.map(({ id, facts }) => {
    return { path: `/bots/${id}`, name: facts.name, lang: facts.locales[0] };
  });
  const author = props.bot.authors.find((id) => props.sameAuthor[0]?.facts.authors.includes(id));
  if (author !== undefined)
    sameAuthor.push({ path: toAuthorPath(author), name: text('shelf.seeAll'), lang: undefined });
  const collections = props.collections.map(({ name, title, locale }) => {
    return { path: toCollectionPath(name), name: title, lang: locale };
  });
  return (
    <aside class="side" aria-label={text('bot.about')}>
      <Permissions invite={props.bot.invite} />
      <Lately {...props} />
      <div class="side-panels">
        <CountsPanel {...props} />
        <Contents {...props} />
        <LinksPanel id="same-author" title={text('bot.sameAuthor')} links={sameAuthor} />
        <LinksPanel id="in-collections" title={text('collections.in')} links={collections} />
        <Listing {...props} />
      </div>
    </aside>
  );
}

/** What changed lately that matters to who trusts the bot. */
function Lately({ trustChanges }: ShownBotProps): VNode | null {
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

/** A bot's counts in the last 90 days, and when it last reported one. */
function CountsPanel({ counts, reportedAge }: ShownBotProps): VNode | null {
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

/** Links to the headings of a page that has at least three. Those of the second level only where the first has few. */
function Contents({ headings }: ShownBotProps): VNode | null {
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

interface LinksPanelProps {
  readonly id: string;
  readonly title: string;
  /** What the links lead to, with the language of its name. */
  readonly links: readonly (NameLinkProps & { readonly lang: string | undefined })[];
}

function LinksPanel({ id, title, links }: LinksPanelProps): VNode | null {
  if (links.length === 0) return null;
  return (
    <nav class="panel" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul class="links">
        {links.map(({ path, name, lang }) => (
          <li key={path} lang={lang}>
            <NameLink {...{ path, name }} />
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** What can be done with the listing, for visitors and owners. */
function Listing(props: ShownBotProps): VNode {
  const { site, viewer, bot, locale, name } = props;
  const { t, text, day, href, publicPath } = useLanguage();
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
    <section class="panel stack" aria-labelledby="listing">
      <h2 id="listing">{t('bot.listing')}</h2>
      <ul class="links">
        {site.hasForms && <LinkItem href={href(editPath(id, language))}>{t('bot.edit')}</LinkItem>}
        {site.hasForms && <LinkItem href={href(translatePath(id, language))}>{t('bot.translate')}</LinkItem>}
        <LinkItem href={href(toChangesPath(id))}>{t('changes.title')}</LinkItem>
        {(report || site.hasForms) && <LinkItem href={reportHref}>{t('bot.report')}</LinkItem>}
        <LinkItem href={publicPath(`/api/v2/bots/${id}`)}>{t('bot.json')}</LinkItem>
        {mayManage && <LinkItem href={href(`/bots/${id}/token`)}>{t('bot.manage')}</LinkItem>}
      </ul>
      <ShareCodes {...props} />
      {bot.verified && (
        <p id={verifiedId} class="muted">
          <small>{t('bot.verifiedText')}</small>
        </p>
      )}
      <dl>
        <Fact name={t('bot.authors')}>{bot.authors.join(', ')}</Fact>
        <Fact name={t('bot.created')}>
          <time dateTime={new Date(bot.created).toISOString()}>{day(bot.created)}</time>
        </Fact>
        <Fact name={t('bot.id')}>{bot.id}</Fact>
      </dl>
    </section>
  );
}

/** The top of a bot's page: its cover, name and description, and where to add it, at the same height for every bot. */
export function BotHead({ bot, locale, blurImages, name, description, authors }: ShownBotProps): VNode {
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
      <Avatar id={bot.id} name={name} image={avatar} size={104} blurred={blurImages} />
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
        <Byline authors={authors} isLinked />
        <p class="about" {...language}>
          {description}
        </p>
      </div>
      <Actions bot={bot} />
    </header>
  );
}

/** The id of the sentence that says what verified means. */
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

/** What decides whether a bot is worth a try, in one strip. */
export function BotFacts(props: ShownBotProps): VNode {
  const { bot, editedAge, reportedAge } = props;
  const { t, href, ago, categoryName } = useLanguage();
  const noCount = useNoCount(reportedAge);
  return (
    <dl class="bot-facts">
      <Fact name={t('bot.serverCount')}>{useServerCount(props)}</Fact>
      <Fact name={t('bot.category')}>
        <a href={href(`/categories/${bot.category}`)}>{categoryName(bot.category)}</a>
      </Fact>
      <Fact name={t('bot.howToUse')}>{useUsage(props)}</Fact>
      <Fact name={t('bot.source')}>{useSource(bot)}</Fact>
      {reportedAge !== undefined && (
        <Fact name={t('bot.lastReport')}>
          {noCount ? <strong class="warning">{noCount}</strong> : ago(0, reportedAge)}
        </Fact>
      )}
      <Fact name={t('bot.edited')}>
        <time dateTime={new Date(bot.edited).toISOString()}>{ago(0, editedAge)}</time>
      </Fact>
      <Fact name={t('bot.language')}>
        <LanguagesOfBot {...props} />
      </Fact>
    </dl>
  );
}

/** Says in how many servers a bot is; null if that is not known. For components only. */
export function useServerCount({ count, growth }: Pick<ShownBotProps, 'count' | 'growth'>): VNode | null {
  const { integer } = useLanguage();
  if (count === undefined) return null;
  return (
    <>
      {integer(count)} {growth !== undefined && <CountGrowth growth={growth} />}
    </>
  );
}

/** By how much the count has changed, unless that is less than half a percent. */
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

/** A link to the source code of a bot; null if it is not open. For components only. */
export function useSource({ codehost }: ListedBot['bot']): VNode | null {
  const { t } = useLanguage();
  const address = toSourceAddress(codehost);
  if (address === null) return null;
  return (
    <a href={address} rel="nofollow ugc noopener">
      {t('bot.openSource', { host: 'GitHub' })}
    </a>
  );
}

/** Says how a bot is used: by what its record and its invite link say, nothing if they do not. For components only. */
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

/** The language that the page is in, then links to the others. Many are folded away. */
function LanguagesOfBot({ bot, locale }: ShownBotProps): VNode {
  const { t, publicPath } = useLanguage();
  const others = Object.keys(bot.contents).filter((other) => other !== locale);
  const current = <span lang={locale}>{formatOwnName(locale)}</span>;
  const links = (
    <ul class="links">
      {others.map((other) => (
        <li key={other}>
          <a href={publicPath(`/bots/${bot.id}?locale=${other}`)} lang={other} hreflang={other}>
            {formatOwnName(other)}
          </a>
        </li>
      ))}
    </ul>
  );
  if (others.length <= fewLanguages)
    return (
      <div class="languages-of-bot">
        {current} {others.length > 0 && links}
      </div>
    );
  return (
    <details>
      <summary>
        {current} · {t('bot.otherLanguages', { count: others.length })}
      </summary>
      {links}
    </details>
  );
}

const fewLanguages = 3;
