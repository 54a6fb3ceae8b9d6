import type { Context, Next } from 'koa';
import type { VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import { isError } from '../../lib/errors.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { readRemovedData, type RemovedAt } from '../../catalogue/changes/bot-changes.ts';
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
