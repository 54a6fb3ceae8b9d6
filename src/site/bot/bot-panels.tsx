import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import { useLanguage } from '../language/page-language.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { editPath, translatePath } from '../page/addresses.ts';
import { reportAddress } from '../page/operator.tsx';
import { toBadgePath } from './badge.ts';
import { Fact } from '../page/fact.tsx';
import { LinkItem } from '../page/links.tsx';
import { verifiedId } from './bot-head.tsx';
import type { ShownBotProps } from './bot-page.tsx';
import { CountChart } from './count-chart.tsx';
import { Permissions } from './permissions.tsx';

/**
 * The column beside a bot's page: the permissions it requests, its counts, what is on the page, other bots of its author,
 * and its listing. On phones the permissions come before the page, the rest after it.
 */
export function BotPanels(props: ShownBotProps): VNode {
  const { text } = useLanguage();
  return (
    <aside class="side" aria-label={text('bot.about')}>
      <Permissions invite={props.bot.invite} />
      <div class="side-panels">
        <CountsPanel {...props} />
        <Contents {...props} />
        <SameAuthor {...props} />
        <Listing {...props} />
      </div>
    </aside>
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

function SameAuthor({ sameAuthor: bots }: ShownBotProps): VNode | null {
  const { t, href } = useLanguage();
  if (bots.length === 0) return null;
  return (
    <nav class="panel" aria-labelledby="same-author">
      <h2 id="same-author">{t('bot.sameAuthor')}</h2>
      <ul class="links">
        {bots.map(({ id, facts }) => (
          <li key={id}>
            <a href={href(`/bots/${id}`)} lang={facts.locales[0]}>
              <bdi>{withoutBidiControls(facts.name)}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** What can be done with the listing, for visitors and owners. */
function Listing({ site, viewer, bot, locale, name }: ShownBotProps): VNode {
  const { t, text, day, href, publicPath } = useLanguage();
  const id = bot.id as BotId;
  const subject = `${text('bot.report')}: ${name} (${id})`;
  const language = locale === findDefaultLocale(bot) ? undefined : locale;
  // A visitor may be an author who is not logged in.
  const mayManage = viewer === null || bot.authors.includes(viewer.id);
  const { report } = site.settings.links;
  const page = `/bots/${id}`;
  const reportHref = report ? reportAddress(report, subject, site.baseUrl + page) : href(`${page}/report`);
  return (
    <section class="panel stack" aria-labelledby="listing">
      <h2 id="listing">{t('bot.listing')}</h2>
      <ul class="links">
        <LinkItem href={href(editPath(id, language))}>{t('bot.edit')}</LinkItem>
        <LinkItem href={href(translatePath(id, language))}>{t('bot.translate')}</LinkItem>
        {site.repository && (
          <LinkItem href={site.repository.history(pathOf(id, locale))}>{t('bot.history')}</LinkItem>
        )}
        <LinkItem href={reportHref}>{t('bot.report')}</LinkItem>
        <LinkItem href={publicPath(`/api/v2/bots/${id}`)}>{t('bot.json')}</LinkItem>
        <LinkItem href={publicPath(toBadgePath(id))}>{t('bot.badge')}</LinkItem>
        {mayManage && <LinkItem href={href(`/bots/${id}/token`)}>{t('bot.manage')}</LinkItem>}
      </ul>
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
