import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import { chooseLocale } from '../../bot/locale.ts';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { maxIds } from '../../catalogue/lists/parameters.ts';
import { parseQuery, readIds } from '../../http/request.ts';
import { TrustChangeText } from '../changes/trust.tsx';
import { BotLine, BotName } from '../front/card.tsx';
import { toComparePath, toWatchPath, watchFeedPath, watchPath, withParameter } from '../page/addresses.ts';
import { Avatar, FollowLinks, NameLink } from '../page/elements.tsx';
import type { AddPage } from '../page/html-response.ts';
import { Layout, PageLinks, type PageLinksProps, pickPage } from '../page/layout.tsx';
import { type PageParts, usePage } from '../page/page-context.tsx';
import { PermissionSigns } from '../page/permissions.tsx';
import { findNamedBots, type NamedBots } from './named-bots.ts';
import type { ReadWatched, WatchedBot } from './watched-bots.ts';

/**
 * Adds the page that tells what changed in the bots of the parameter `ids`, and its form. The lines of the form are the
 * parameter `bots`: one that names a single bot adds it to `ids`. If every line has a bot there, the page redirects to
 * `?ids=…` alone.
 */
export function addWatchPage(addPage: AddPage, parts: PageParts, readWatched: ReadWatched): void {
  addPage(watchPath, async (ctx) => {
    const params = parseQuery(ctx);
    const texts = params.getAll('bots');
    const named = await findNamedBots(texts, parts, ctx.ip);
    const found = named.flatMap(({ ids }) => (ids.length === 1 ? ids : []));
    const all = [...new Set([...(readIds(params) ?? []), ...found])];
    const open = named.filter(({ ids }) => !ids.some((id) => all.includes(id)));
    if (named.length > 0 && open.length === 0 && all.length <= maxIds) return toWatchPath(all);
    const watched = await readWatched(all.slice(0, maxIds), ctx.ip);
    const ids = all.filter((id) => watched.some((bot) => bot.id === id));
    const { shown, ...place } = pickPage(ctx, watched, rowsPerPage);
    const { wanted } = parts.site.languages.of(ctx);
    const locales = shown.map(({ indexed }) => chooseLocale(indexed?.facts.locales ?? [], wanted));
    const unread = watched.filter(({ isRead }) => !isRead).length;
    const lost = [
      ...all.slice(0, maxIds).filter((id) => !ids.includes(id)),
      ...open.filter((line) => line.ids.length === 0).map(({ line }) => line),
    ];
    const isCut = all.length > maxIds;
    return {
      key: { watched: all, texts, locales, ...place },
      // Rebuilt for each request until all is read.
      ...(unread > 0 && { entry: () => ({}) }),
      render: async () => <WatchPage {...{ ids, shown, isCut, lost, open, unread, ...place }} />,
    };
  });
}

const rowsPerPage = 25;

interface WatchPageProps extends Omit<PageLinksProps, 'pathOf'> {
  readonly ids: readonly BotId[];
  /** The bots of this page of the list. */
  readonly shown: readonly WatchedBot[];
  /** Whether more bots are named than can be watched. */
  readonly isCut: boolean;
  /** The ids and lines that no bot matches. */
  readonly lost: readonly string[];
  /** The lines without a bot in `ids`. */
  readonly open: readonly NamedBots[];
  /** The number of bots whose history was not read yet. */
  readonly unread: number;
}

function WatchPage({ ids, shown, isCut, lost, open, unread, page, pages }: WatchPageProps): VNode {
  const { t, text, href } = usePage();
  const lines = open.map(({ line }) => line).join('\n');
  const compared = shown.filter(({ indexed }) => indexed).map(({ id }) => id);
  const pathOf = (number: number): string => href(withParameter(toWatchPath(ids), 'page', String(number)));
  const lead = (
    <>
      <p class="whole">{t('watch.introduction')}</p>
      {ids.length > 0 && <FollowLinks path={toWatchPath(ids, watchFeedPath)} />}
    </>
  );
  return (
    <Layout title={text('watch.title')} lead={lead} isUnlisted>
      <div class="stack">
        {lost.length > 0 && (
          <p class="notice">
            {t('compare.missing', { ids: lost.map((line) => line.slice(0, 60)).join(', ') })}
          </p>
        )}
        {isCut && <p class="notice">{t('watch.tooMany', { max: maxIds })}</p>}
        {unread > 0 && (
          <p class="notice">
            <a href={pathOf(page)}>{t('watch.unread', { count: unread })}</a>
          </p>
        )}
        {open.map(
          ({ line, ids: same }) =>
            same.length > 0 && (
              <p key={line} class="notice links">
                {t('watch.several', { name: line })}
                {same.map((id) => (
                  <NameLink
                    key={id}
                    path={withParameter(toWatchPath([...ids, id]), 'bots', lines)}
                    name={`${line} (${id})`}
                  />
                ))}
              </p>
            ),
        )}
        {shown.length > 0 && (
          <ul class="desk">
            {shown.map((bot) => (
              <Row key={bot.id} {...bot} ids={ids} />
            ))}
          </ul>
        )}
        <PageLinks {...{ page, pages, pathOf }} />
        {compared.length > 1 && (
          <p>
            <a rel="nofollow" href={href(toComparePath(compared.slice(0, 4)))}>
              {t('compare.heading', { count: Math.min(compared.length, 4) })}
            </a>
          </p>
        )}
        <form class="fields narrow" action={href(watchPath)}>
          {ids.length > 0 && <input type="hidden" name="ids" value={ids.join()} />}
          <div class="field">
            <label for="bots">{t('watch.lines')}</label>
            <textarea id="bots" name="bots" dir="auto" maxLength={6000} required aria-describedby="hint">
              {lines}
            </textarea>
            <p class="hint" id="hint">
              {t('watch.hint', { max: maxIds })}
            </p>
          </div>
          <p class="actions">
            <button>{text('watch.add')}</button>
          </p>
        </form>
      </div>
    </Layout>
  );
}

function Row(watched: WatchedBot & Pick<WatchPageProps, 'ids'>): VNode {
  const { id, ids, indexed, name, category, count, warnings, isRead } = watched;
  const { t, href, wanted } = usePage();
  const bot = indexed && parseListElement(indexed);
  const { cachedImages, nsfw = false } = bot ?? {};
  const locale = indexed && chooseLocale(indexed.facts.locales, wanted);
  return (
    <li>
      <Avatar
        {...{ id, name, category }}
        image={cachedImages?.avatar ?? null}
        size={56}
        blurred={nsfw}
        lazy
      />
      <div>
        <h2>{bot && locale ? <BotName {...{ bot, locale }} /> : <bdi>{name}</bdi>}</h2>
        {bot && <BotLine {...{ bot, count }} authors={[]} />}
        {bot && <PermissionSigns invite={bot.invite} page={href(`/bots/${id}`)} />}
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
      <a class="button quiet" href={href(toWatchPath(ids.filter((other) => other !== id)))}>
        {t('watch.remove')} <span class="out-of-sight">{name}</span>
      </a>
    </li>
  );
}
