import type { BotIndex } from '../../catalogue/store/bot-index.ts';
import type { BotLists } from '../../catalogue/lists/bot-lists.ts';
import type { Selection } from '../../catalogue/lists/selection.ts';
import { type Current, CurrentCache } from '../../lib/current-cache.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseCategory } from '../front/front-query.ts';
import { toAuthorFeed, toCategoryFeed, toPathInLanguage, sitePaths } from '../page/addresses.ts';
import type { PageLanguage } from '../language/page-language.tsx';
import type { Site } from '../page/layout.tsx';
import type { WholeDocument } from '../../http/representation.ts';
import { makeFeed } from './feed.ts';

export interface FeedsOptions {
  readonly bots: BotIndex;
  readonly lists: BotLists;
  readonly site: Pick<Site, 'baseUrl' | 'languages' | 'settings'>;
}

interface FeedRecipe {
  readonly messages: PageLanguage;
  readonly title: string;
  readonly path: string;
  readonly page: string;
  readonly selection: Selection;
}

/**
 * The feeds: titles in a language of the interface, bots in their own. Each is made when it is first requested and kept
 * while it is current.
 */
export class Feeds {
  readonly #options: FeedsOptions;
  readonly #kept = new CurrentCache<WholeDocument>(
    8 * 1024 * 1024,
    ({ body }) => body.length,
    minRebuildRatio,
  );

  constructor(options: FeedsOptions) {
    this.#options = options;
  }

  /** Returns the feed of all new bots, without those for adults. */
  async newBots(messages: PageLanguage): Promise<WholeDocument & Current> {
    return await this.#get({
      messages,
      title: messages.text('feed.newBots'),
      path: sitePaths.newBots,
      page: '/?sort=newest',
      selection: { nsfw: false },
    });
  }

  /**
   * Returns the feed of the new bots in a category, without those for adults.
   * @throws {ProblemError} not-found
   */
  async category(name: string, messages: PageLanguage): Promise<WholeDocument & Current> {
    const category = parseCategory(name, this.#options.site.settings);
    return await this.#get({
      messages,
      title: messages.text('feed.newInCategory', { category: messages.categoryName(category) }),
      path: toCategoryFeed(category),
      page: `/categories/${category}?sort=newest`,
      selection: { nsfw: false, category: [category] },
    });
  }

  /**
   * Returns the feed of all bots of an author.
   * @throws {ProblemError} not-found for an author without a bot
   */
  async author(author: string, messages: PageLanguage): Promise<WholeDocument & Current> {
    return await this.#get({
      messages,
      title: messages.text('feed.byAuthor', { author }),
      path: toAuthorFeed(author),
      page: '/',
      selection: { author },
    });
  }

  async #get({ selection, title, messages, path, page }: FeedRecipe): Promise<WholeDocument & Current> {
    const { bots, lists, site } = this.#options;
    const { locale } = messages;
    const inputs = [() => bots.version, () => site.settings];
    return await this.#kept.get(`${path} ${locale}`, inputs, async () => {
      const { settings } = site;
      const newest: Selection = {
        ...selection,
        sort: { key: 'created', descending: true },
        limit: maxFeedEntries,
      };
      const selected = await lists.select(newest);
      if (selection.author !== undefined && selected.total === 0)
        throw new ProblemError(
          'not-found',
          `there is no bot by ${JSON.stringify(selection.author.slice(0, 60))}`,
        );
      return makeFeed({
        name: settings.name,
        path: toPathInLanguage(path, locale, settings.language),
        page: toPathInLanguage(page, locale, settings.language),
        title,
        bots: selected.bots,
        baseUrl: site.baseUrl,
        messages,
      });
    });
  }
}

const maxFeedEntries = 50;

/** The time between rebuilds is at least this many times the build time. */
const minRebuildRatio = 20;
