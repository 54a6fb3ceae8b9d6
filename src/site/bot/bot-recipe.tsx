import type { Context } from 'koa';
import type { Locale } from '../../bot/locale.ts';
import { type IndexedBot, parseListElement, parseRecord } from '../../catalogue/store/bot-index.ts';
import { listPageImages } from '../../catalogue/store/page-images.ts';
import { parseQuery } from '../../http/query.ts';
import { chooseLocale, findLanguages, listWantedRanges } from '../language/locales.ts';
import { readNamedTrustChanges } from '../changes/trust-changes.tsx';
import { listLinkedCollections, showCollection } from '../front/collections.ts';
import { findCopies } from '../markdown/markdown-images.ts';
import { listNamedAuthors } from '../page/author-names.tsx';
import type { PageRecipe } from '../page/html-response.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { BotPage } from './bot-page.tsx';
import { formatShareCardAddress } from './share.tsx';
import { findSimilarBots, listBotsOfSameAuthor, readGroups } from './related-bots.ts';

/** Returns how the page of a bot is made, in the language and with the images that the request selects. */
export async function createBotRecipe(
  ctx: Context,
  parts: SiteParts,
  indexed: IndexedBot,
): Promise<PageRecipe> {
  const { site, bots, collections, counts, countHistory, markdown, copyOf } = parts;
  const { id, facts } = indexed;
  markdown.start();
  const groups = await readGroups(parts);
  const authors = await Promise.all(facts.authors.map(async (id) => await parts.authors.find(id)));
  const params = parseQuery(ctx);
  const wanted = listWantedRanges(params.get('locale') ?? undefined, ctx.get('Accept-Language'));
  const locale = chooseLocale(facts.locales, wanted) as Locale;
  const own = [...wanted.slice(0, 1), site.languages.of(ctx).locale];
  const isForeign = findLanguages(own, facts.locales).length === 0;
  const blurImages = facts.nsfw && params.get('pictures') !== 'shown';
  const shown = { locale, isForeign, blurImages };
  return {
    key: { id, ...shown },
    entry: () => bots.get(id),
    render: async (props) => {
      const bot = parseRecord(indexed);
      const { name = '', page: text = '' } = bot.contents[locale] ?? {};
      const images = findCopies(listPageImages(indexed), copyOf);
      const { html, headings } = await markdown.render({ text, name, images });
      const today = countHistory.present();
      const trustChanges = await readNamedTrustChanges(parts, id);
      const isRead = await countHistory.isRead('recent');
      const similar = findSimilarBots(groups, bot, locale).map((other) => {
        const [count, growth] = [counts.count(other.id), counts.growth(other.id)];
        return { bot: parseListElement(other), locale, namesLanguage: isForeign, count, growth };
      });
      return (
        <BotPage
          {...{ ...props, ...shown, bot, html, headings, similar }}
          count={counts.count(id)}
          growth={counts.growth(id)}
          counts={isRead ? countHistory.counts(id, today - chartDays + 1, today) : []}
          trustChanges={trustChanges}
          reportedAge={computeAge(counts.reportedAt(id))}
          editedAge={computeAge(facts.edited) ?? 0}
          authors={listNamedAuthors(parts.authors, bot.authors)}
          sameAuthor={listBotsOfSameAuthor(authors, bot)}
          shareCard={parts.shareCards === null ? undefined : formatShareCardAddress(parts, bot, locale)}
          collections={listLinkedCollections(collections, bots)
            .filter(({ collection }) => collection.bots.includes(id))
            .slice(0, maxCollections)
            .map(({ collection }) => showCollection(collection, [site.languages.of(ctx).locale]))}
          faults={site.live ? parts.faultsOf(id) : []}
        />
      );
    },
  };
}

const chartDays = 90;
const maxCollections = 3;

/** Returns how long ago a time is, in whole minutes, hours or days: a page changes no more often than what it says. */
function computeAge(time: number | undefined): number | undefined {
  if (time === undefined) return undefined;
  const age = Math.max(Date.now() - time, 0);
  const unit = [86_400_000, 3_600_000].find((size) => age >= size) ?? 60_000;
  return Math.floor(age / unit) * unit;
}
