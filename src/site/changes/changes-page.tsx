import type { VNode } from 'preact';
import { type Locale, chooseLocale } from '../../bot/locale.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import { pathOf } from '../../catalogue/page/layout.ts';
import { parseListElement, type IndexedBot, findKnownBot } from '../../catalogue/store/bot-index.ts';
import { parseQuery } from '../../http/request.ts';
import { usePage, type PageParts } from '../page/page-context.tsx';
import { feedsPath, toFeedPath, toChangesPath, toPathInLanguage } from '../page/addresses.ts';
import { Breadcrumb, ActionLink, LinkItem, nameAccount } from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import type { AddPage } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { readShownChanges, ChangedFields, type ShownChanges } from './changed-fields.tsx';

/** Adds the page with the changes of a bot. */
export function addChangesPage(addPage: AddPage, { site, bots, authors, changes: index }: PageParts): void {
  addPage('/bots/:id/changes', (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const after = parseQuery(ctx).get('after') ?? undefined;
    const locale = chooseLocale(bot.facts.locales, site.languages.of(ctx).wanted);
    return {
      key: { changes: bot.id, after, locale },
      entry: () => bots.get(bot.id),
      render: async () => {
        const { isComplete } = index;
        return (
          <ChangesPage
            {...await readShownChanges(index, bot.id, after)}
            {...{ bot, isComplete, authors }}
            name={parseListElement(bot).contents[locale ?? '']?.name ?? bot.facts.name}
          />
        );
      },
    };
  });
}

interface ChangesPageProps extends ShownChanges {
  readonly bot: IndexedBot;
  /** The name in the language that fits the reader best. */
  readonly name: string;
  /** Whether all of the history has been read. */
  readonly isComplete: boolean;
  readonly authors: Pick<AuthorIndex, 'findProfile'>;
}

/** The changes of a bot, with their authors and times. */
function ChangesPage(props: ChangesPageProps): VNode {
  const { bot, name, authors, changes, next, isComplete } = props;
  const { site, t, text, href, locale } = usePage();
  const { id, facts } = bot;
  const title = text('changes.of', { name: withoutBidiControls(name) });
  const meta = {
    address: `${site.canonicalUrl}${toChangesPath(id)}`,
    title,
    description: title,
    locale,
    isAdult: facts.nsfw,
    isListed: false,
    feed: { title, path: toFeedPath('bot', id) },
  };
  return (
    <Layout
      meta={meta}
      category={facts.category}
      head={
        <>
          <Breadcrumb category={facts.category} bot={{ path: `/bots/${id}`, name }} />
          <h1>{t('changes.title')}</h1>
        </>
      }
    >
      <div class="stack">
        <ul class="links">
          <LinkItem href={href(toPathInLanguage(toFeedPath('bot', id), locale, site.settings.language))}>
            {t('changes.follow')}
          </LinkItem>
          <LinkItem href={href(feedsPath)}>{t('feeds.what')}</LinkItem>
          <LinkItem href={href(`/api/v2${toChangesPath(id)}`)}>{t('bot.json')}</LinkItem>
          {site.repository && (
            <LinkItem href={site.repository.history(pathOf(id, facts.locales[0] as Locale))}>
              {t('bot.history')}
            </LinkItem>
          )}
        </ul>
        {!isComplete && <p class="notice">{t('changes.reading')}</p>}
        {isComplete && changes.length === 0 && <p>{t('changes.none')}</p>}
        {changes.map((change) => (
          <Change key={change.commit} {...{ change, authors }} />
        ))}
        {next !== undefined && (
          <ActionLink href={href(`${toChangesPath(id)}?after=${next}`)}>{t('changes.older')}</ActionLink>
        )}
      </div>
    </Layout>
  );
}

function Change({
  change,
  authors,
}: Pick<ChangesPageProps, 'authors'> & { readonly change: ShownChanges['changes'][number] }): VNode {
  const { site, t, minute, daysAgo } = usePage();
  const { commit, time, by, isNewBot } = change;
  const address = site.repository?.commit(commit);
  const author =
    by.kind === 'person' ? (
      <bdi>{withoutBidiControls(by.name)}</bdi>
    ) : by.kind === 'api' ? (
      t('changes.api')
    ) : (
      t('changes.proposal', { account: nameAccount(authors, by.account) })
    );
  return (
    <section class="panel stack" id={commit} aria-labelledby={`at-${commit}`}>
      <h2 id={`at-${commit}`}>
        <time dateTime={new Date(time).toISOString()}>{minute(time)}</time>
      </h2>
      <p class="muted">
        {author} · {daysAgo(time, Date.now())}
        {address && (
          <>
            {' · '}
            <a href={address}>{t('changes.files')}</a>
          </>
        )}
      </p>
      {isNewBot ? <p>{t('changes.listed')}</p> : <ChangedFields {...change} />}
    </section>
  );
}
