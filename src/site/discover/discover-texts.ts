import { categoryNames, messages } from '../page/messages.ts';
import type { Category } from '../../bot/schema-types.ts';

/** The texts of feeds and of the files that describe the site. */
export const discoverTexts = {
  newBots: messages.newBots,
  newInCategory: (category: Category) => `New bots: ${categoryNames[category]}`,
  byAuthor: (author: string) => `Bots by ${author}`,
  feedTitle: (title: string) => `${title} · ${messages.product}`,
} as const;
