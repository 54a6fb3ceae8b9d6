import type { Context, Next } from 'koa';
import type { VNode } from 'preact';
import { isError } from '../../lib/errors.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import type { RemovedAt } from '../../catalogue/changes/bot-changes.ts';
import { botsFolder, folderOf } from '../../catalogue/page/layout.ts';
import { ProblemError } from '../../http/problem.ts';
import { useLanguage, useVisit, type PageParts } from '../page/page-context.tsx';
import { LinkItem } from '../page/elements.tsx';
import { sendOnce } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { AllBotsLink, prefersPage } from '../page/error-pages.tsx';

/** Responds 410 to requests for the page of a removed bot, and for all paths below it. In the API, every unknown bot is a 404. */
export function refuseRemovedBots(
  { site, viewerOf }: PageParts,
  removedAt: RemovedAt,
): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const id = isError(error, 'unknown-bot') ? parseBotId(error.details.id ?? '') : undefined;
      const time = id && (await removedAt(id));
      if (id === undefined || time === undefined) throw error;
      if (!prefersPage(ctx)) throw new ProblemError('removed-bot', `the bot ${id} was removed`);
      const viewer = await viewerOf(ctx);
      sendOnce(ctx, { site, viewer }, <RemovedBotPage {...{ id, time }} />, 410);
    }
  };
}

function RemovedBotPage({ id, time }: { readonly id: BotId; readonly time: number }): VNode {
  const { site } = useVisit();
  const { t, text, day, href } = useLanguage();
  const when = <time dateTime={new Date(time).toISOString()}>{day(time)}</time>;
  return (
    <Layout
      title={text('error.removed.title')}
      isUnlisted
      head={
        <>
          <p class="muted whole">410</p>
          <h1>{t('error.removed.title')}</h1>
        </>
      }
    >
      <div class="narrow stack">
        <p>{t('error.removed.text', { id: <code>{id}</code>, day: when })}</p>
        <p>{t('error.removed.owner')}</p>
        <ul class="links">
          {site.repository && (
            <LinkItem href={site.repository.history(`${botsFolder}/${folderOf(id)}`)}>
              {t('bot.history')}
            </LinkItem>
          )}
          {site.hasForms && <LinkItem href={href('/add')}>{t('layout.add')}</LinkItem>}
        </ul>
        <AllBotsLink />
      </div>
    </Layout>
  );
}
