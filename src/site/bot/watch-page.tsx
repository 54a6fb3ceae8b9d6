import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import { chooseLocale, type Locale } from '../../bot/locale.ts';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { maxIds } from '../../catalogue/lists/parameters.ts';
import { parseQuery, readIds } from '../../http/request.ts';
import { TrustChangeText } from '../changes/changed-fields.tsx';
import { BotAvatar, BotLine, BotName } from '../front/card.tsx';
import { toComparePath, toWatchPath, watchFeedPath, watchPath, withParameter } from '../page/addresses.ts';
import { Avatar, FollowLinks, PageLinks, toCategoryClass, withoutBidiControls } from '../page/elements.tsx';
import { type AddPage, type PageView, pickPage } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { type PageParts, useLanguage } from '../page/page-context.tsx';
import { PermissionSigns } from '../page/permissions.tsx';
import { findNamedBots, type NamedBots } from './named-bots.ts';
import type { ReadWatched, WatchedBot, WatchedBots } from './watched-bots.ts';

/**
 * Adds the page that tells what changed in the bots of the parameter `ids`, and its form. The lines of the form are the
 * parameter `bots`: if all of them are found, the page redirects to its address with their ids.
 */
export function addWatchPage(addPage: AddPage, parts: PageParts, readWatched: ReadWatched): void {
  addPage(watchPath, async (ctx) => await createWatchView(ctx, parts, readWatched));
}

/** @throws {ProblemError} bad-query, not-found {BotshelfError} queue-full, share-full */
async function createWatchView(
  ctx: Context,
  parts: PageParts,
  readWatched: ReadWatched,
): Promise<PageView | string> {
  const params = parseQuery(ctx);
  const { ids: found, ...named } = await findNamedBots(params.getAll('bots'), parts, ctx.ip);
  const all = [...new Set([...(readIds(params) ?? []), ...found])];
  const ids = all.slice(0, maxIds);
  const isCut = all.length > ids.length;
  if (found.length > 0 && !isCut && named.unknown.length === 0 && named.shared.length === 0)
    return toWatchPath(ids);
  const watched = await readWatched(ids, ctx.ip);
  const known = ids.filter((id) => !watched.missing.includes(id));
  const { wanted } = parts.site.languages.of(ctx);
  const { shown, ...place } = pickPage(ctx, watched.bots, rowsPerPage);
  const rows = shown.map((bot): WatchedRow => {
    const locale = chooseLocale(bot.indexed?.facts.locales ?? [], wanted);
    return { ...bot, locale, count: parts.counts.count(bot.id) };
  });
  const locales = rows.map(({ locale }) => locale);
  return {
    key: {
      watched: ids,
      page: place.page,
      isCut,
      locales,
      ...named,
      shared: named.shared.map(({ name }) => name),
    },
    // Rebuilt for each request until all is read.
    ...(watched.unread > 0 && { entry: () => ({}) }),
    render: async () => <WatchPage {...{ ids: known, rows, isCut, ...watched, ...named, ...place }} />,
  };
}

const rowsPerPage = 25;

interface WatchedRow extends WatchedBot {
  readonly locale: Locale | undefined;
  readonly count: number | undefined;
}

interface WatchPageProps
  extends Omit<WatchedBots, 'bots'>, Omit<NamedBots, 'ids'>, Omit<ReturnType<typeof pickPage>, 'shown'> {
  /** The ids in the address, without those that no bot has. */
  readonly ids: readonly BotId[];
  /** The bots of this page of the list. */
  readonly rows: readonly WatchedRow[];
  /** Whether more bots are named than can be watched. */
  readonly isCut: boolean;
}

function WatchPage(props: WatchPageProps): VNode {
  const { ids, rows, isCut, missing, unread, unknown, page, pages } = props;
  const { t, text, href } = useLanguage();
  const lost = [...missing, ...unknown].map((line) => line.slice(0, maxShownLength).toWellFormed());
  const compared = rows.filter(({ indexed }) => indexed).slice(0, 4);
  const toPage = (number: number): string => withParameter(toWatchPath(ids), 'page', String(number));
  return (
    <Layout
      title={text('watch.title')}
      isUnlisted
      head={
        <>
          <h1>{t('watch.title')}</h1>
          <p class="whole">{t('watch.introduction')}</p>
          {ids.length > 0 && <FollowLinks path={toWatchPath(ids, watchFeedPath)} />}
        </>
      }
    >
      <div class="stack">
        {lost.length > 0 && <p class="notice">{t('compare.missing', { ids: lost.join(', ') })}</p>}
        {isCut && <p class="notice">{t('watch.tooMany', { max: maxIds })}</p>}
        {unread > 0 && (
          <p class="notice">
            <a href={href(page === 1 ? toWatchPath(ids) : toPage(page))}>
              {t('watch.unread', { count: unread })}
            </a>
          </p>
        )}
        <Choices {...props} />
        {rows.length > 0 && (
          <ul class="desk">
            {rows.map((row) => (
              <Row key={row.id} row={row} others={ids.filter((id) => id !== row.id)} />
            ))}
          </ul>
        )}
        <PageLinks {...{ page, pages }} pathOf={(number) => href(toPage(number))} />
        {compared.length > 1 && (
          <p>
            <a rel="nofollow" href={href(toComparePath(compared.map(({ id }) => id)))}>
              {t('compare.heading', { count: compared.length })}
            </a>
          </p>
        )}
        <AddForm {...props} />
      </div>
    </Layout>
  );
}

/** Characters of a line that no bot matches. */
const maxShownLength = 60;

interface RowProps {
  readonly row: WatchedRow;
  /** The ids of the other watched bots. */
  readonly others: readonly BotId[];
}

function Row({ row, others }: RowProps): VNode {
  const { id, indexed, name, category, locale, count, warnings, isRead } = row;
  const { t, href } = useLanguage();
  const bot = indexed && parseListElement(indexed);
  return (
    <li class={category && toCategoryClass(category)}>
      {bot ? (
        <BotAvatar {...{ bot, name }} size={56} lazy />
      ) : (
        <Avatar {...{ id, name }} {...(category && { category })} image={null} size={56} blurred={false} />
      )}
      <div>
        <h2>{bot && locale ? <BotName {...{ bot, locale }} /> : <bdi>{name}</bdi>}</h2>
        {bot && <BotLine {...{ bot, count }} authors={[]} />}
        {bot && <PermissionSigns invite={bot.invite} page={`/bots/${id}`} />}
        <ul class="steps">
          {warnings.map((warning) => (
            <li key={warning.id}>
              <TrustChangeText change={warning} />
            </li>
          ))}
          {!isRead && <li class="muted">{t('watch.reading')}</li>}
          {isRead && warnings.length === 0 && <li>{t('watch.fine')}</li>}
        </ul>
      </div>
      <a class="button quiet" href={href(toWatchPath(others))}>
        {t('watch.remove')} <span class="out-of-sight">{name}</span>
      </a>
    </li>
  );
}

/** The bots of each name that several have, to choose from. */
function Choices({ ids, shared }: WatchPageProps): VNode | null {
  const { t, text, href } = useLanguage();
  if (shared.length === 0) return null;
  return (
    <form class="notice" action={href(watchPath)}>
      <OwnIds ids={ids} />
      {shared.map(({ name, bots }) => (
        <fieldset key={name} class="field">
          <legend>{t('watch.several', { name })}</legend>
          {bots.map(({ id, facts }) => (
            <div key={id}>
              <label class="check">
                <input type="checkbox" name="ids" value={id} /> <bdi>{withoutBidiControls(facts.name)}</bdi>{' '}
                {id}
              </label>
            </div>
          ))}
        </fieldset>
      ))}
      <button>{text('watch.add')}</button>
    </form>
  );
}

function OwnIds({ ids }: Pick<WatchPageProps, 'ids'>): VNode | null {
  return ids.length === 0 ? null : <input type="hidden" name="ids" value={ids.join()} />;
}

/** The form for lines that name bots. The lines that no bot matches are in it again. Its text fits into an address. */
function AddForm({ ids, unknown }: WatchPageProps): VNode {
  const { t, text, href } = useLanguage();
  return (
    <form class="fields narrow" action={href(watchPath)}>
      <OwnIds ids={ids} />
      <div class="field">
        <label for="bots">{t('watch.lines')}</label>
        <textarea id="bots" name="bots" dir="auto" rows={6} maxLength={6000} required aria-describedby="hint">
          {unknown.join('\n')}
        </textarea>
        <p class="hint" id="hint">
          {t('watch.hint', { max: maxIds })}
        </p>
      </div>
      <div class="actions">
        <button>{text('watch.add')}</button>
      </div>
    </form>
  );
}
