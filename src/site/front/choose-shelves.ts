import type { Locale } from '../../bot/locale.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { isIn } from '../language/locales.ts';
import { type FrontEntry, maxOnShelf, type Shelf } from './front-list.ts';

const minOnShelf = 3;

/**
 * Chooses the bots on each shelf, none of them twice: those with a page in a language of the reader, then one other. A shelf
 * with fewer than three is left out; where that leaves none, others fill the shelves. The shelf of all bots has all.
 */
export function chooseShelves(shelves: readonly Shelf[], languages: readonly Locale[]): Shelf[] {
  const chosen = fillShelves(shelves, languages, 1);
  return chosen.length > 0 ? chosen : fillShelves(shelves, languages, maxOnShelf);
}

function fillShelves(shelves: readonly Shelf[], languages: readonly Locale[], maxOthers: number): Shelf[] {
  const isOwn = ({ bot }: FrontEntry): boolean => isIn(languages, bot.facts.locales);
  const shown = new Set<IndexedBot>();
  return shelves.flatMap(({ sort, entries }): Shelf[] => {
    const own = entries.filter((entry) => !shown.has(entry.bot) && isOwn(entry));
    const others = entries.filter((entry) => !shown.has(entry.bot) && !isOwn(entry));
    if (sort === 'popular') return [{ sort, entries: [...own, ...others] }];
    const chosen = [...own, ...others.slice(0, maxOthers)].slice(0, maxOnShelf);
    if (chosen.length < minOnShelf) return [];
    for (const { bot } of chosen) shown.add(bot);
    return [{ sort, entries: chosen }];
  });
}
