import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import { useLanguage } from '../language/page-language.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { TrustChangeText } from '../changes/trust-changes.tsx';
import { editPath, toAuthorPath, toChangesPath, toCollectionPath, translatePath } from '../page/addresses.ts';
import { reportAddress } from '../page/operator.tsx';
import { Fact } from '../page/fact.tsx';
import { LinkItem, NameLink, type NameLinkProps } from '../page/links.tsx';
import { verifiedId } from './bot-head.tsx';
import type { ShownBotProps } from './bot-page.tsx';
import { CountChart } from './count-chart.tsx';
import { Permissions } from '../page/permissions.tsx';
import { ShareCodes } from './share.tsx';

/**
 * The column beside a bot's page: the permissions it requests, its counts, what is on the page, other bots of its author,
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
