import type { Router } from '@koa/router';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { findKnownBot } from '../../http/api/read-routes.ts';
import { parseQuery } from '../../http/query.ts';
import { chooseLocale, listWantedRanges } from '../language/locales.ts';
import type { RespondWithPage } from '../page/html-response.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { ChangesPage } from './changes-page.tsx';
import { readShownChanges } from './shown-changes.ts';

/** Adds the page of what changed in a bot. */
export function addChangesPage(
  router: Router,
  { bots, authors, changes: index }: SiteParts,
  respond: RespondWithPage,
): void {
  router.get('/bots/:id/changes', async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const after = parseQuery(ctx).get('after') ?? undefined;
    const wanted = listWantedRanges(parseQuery(ctx).get('locale') ?? undefined, ctx.get('Accept-Language'));
    const locale = chooseLocale(bot.facts.locales, wanted);
    await respond(ctx, {
      key: { changes: bot.id, after, locale },
      entry: () => bots.get(bot.id),
      render: async (props) => {
        const { isComplete } = index;
        return (
          <ChangesPage
            {...props}
            {...await readShownChanges(index, bot.id, after)}
            {...{ bot, isComplete, authors }}
            name={parseListElement(bot).contents[locale ?? '']?.name ?? bot.facts.name}
          />
        );
      },
    });
  });
}
