import type { Context, Next } from 'koa';
import type { VNode } from 'preact';
import type { Category, MainPage } from '../../../schemas/types.ts';
import { isError } from '../../lib/errors.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { readMainData, type ReadonlyChanges } from '../../catalogue/changes/bot-changes.ts';
import { validate } from '../../bot/validate.ts';
import { botsFolder, folderOf } from '../../catalogue/page/layout.ts';
import { ProblemError } from '../../http/problem.ts';
import { useLanguage, useVisit, type PageParts } from '../page/page-context.tsx';
import { LinkItem } from '../page/elements.tsx';
import { sendOnce } from '../page/html-response.ts';
import { prefersPage } from '../front/error-pages.tsx';
import { type ListNear, LostPage, type NearBots } from '../front/lost-page.tsx';

/** Responds 410 to requests for the page of a removed bot, and for all paths below it. In the API, every unknown bot is a 404. */
export function refuseRemovedBots(
  parts: PageParts,
  removedAt: RemovedAt,
  listNear: ListNear,
): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const id = isError(error, 'unknown-bot') ? parseBotId(error.details.id ?? '') : undefined;
      const time = id && (await removedAt(id));
      if (id === undefined || time === undefined) throw error;
      if (!prefersPage(ctx)) throw new ProblemError('removed-bot', `the bot ${id} was removed`);
      const category = await findCategory(parts, id).catch(() => undefined);
      const near = await listNear(ctx, category);
      const visit = { site: parts.site, viewer: await parts.viewerOf(ctx) };
      sendOnce(ctx, visit, <RemovedBotPage {...{ id, time, near }} />, 410);
    }
  };
}

/** Returns the category that a bot had when it was removed; undefined if that is unknown. @throws {GitError} */
async function findCategory({ changes, site }: PageParts, id: BotId): Promise<Category | undefined> {
  const { category } = await readRemovedData(changes, id);
  return site.settings.categories.find((known) => known === category);
}

interface RemovedBotPageProps {
  readonly id: BotId;
  readonly time: number;
  readonly near: NearBots;
}

function RemovedBotPage({ id, time, near }: RemovedBotPageProps): VNode {
  const { site } = useVisit();
  const { t, text, day, href } = useLanguage();
  const when = <time dateTime={new Date(time).toISOString()}>{day(time)}</time>;
  return (
    <LostPage
      title={text('error.removed.title')}
      near={near}
      head={
        <>
          <p class="muted whole">410</p>
          <h1>{t('error.removed.title')}</h1>
          <p class="whole">{t('error.removed.text', { id: <code>{id}</code>, day: when })}</p>
        </>
      }
    >
      <p>{t('error.removed.owner')}</p>
      <ul class="links">
        {site.repository && (
          <LinkItem href={site.repository.history(`${botsFolder}/${folderOf(id)}`)}>
            {t('bot.history')}
          </LinkItem>
        )}
        {site.hasForms && <LinkItem href={href('/add')}>{t('layout.add')}</LinkItem>}
      </ul>
    </LostPage>
  );
}

/**
 * Returns the front matter that the main page of a removed bot had last; empty if it is unknown, or was faulty and
 * never served.
 * @throws {GitError}
 */
export async function readRemovedData(index: ReadonlyChanges, id: BotId): Promise<Partial<MainPage>> {
  const [last] = await index.listSteps(id);
  const data = last ? readMainData((await index.read(id, last)).before) : {};
  return validate('main-page', data).length > 0 ? {} : data;
}

/**
 * Returns when a bot was removed, in milliseconds since the epoch: when its last file disappeared, else the time of
 * the commit. Undefined if that is unknown, or if the bot still has a file, which may be faulty and not served.
 */
export type RemovedAt = (id: BotId) => Promise<number | undefined>;

/**
 * Records the bots that are removed from now on. Earlier removals come from the index, if there is a repository and
 * once the index is complete.
 */
export function trackRemovedBots(
  store: Catalogue['store'],
  changes: Pick<ReadonlyChanges, 'listSteps'>,
): RemovedAt {
  const seen = new Map<BotId, number>();
  store.on('change', (id) => {
    if (store.bots.get(id)) seen.delete(id);
    else if (seen.size < maxSeen) seen.set(id, Date.now());
  });
  return async (id) => {
    if (store.bots.get(id) || store.hasFaultyFile(id)) return undefined;
    const time = seen.get(id);
    if (time !== undefined) return time;
    const [last] = await changes.listSteps(id);
    return last?.pages.every(({ after }) => after === undefined) ? last.time : undefined;
  };
}

/** About 10 MB of memory. */
const maxSeen = 100_000;
