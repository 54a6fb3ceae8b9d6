import type { Locale } from '../../bot/locale.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { isIn } from '../language/locales.ts';
import type { LinkedCollection } from './collections.ts';
import { type FrontEntry, maxOnShelf, type Shelf } from './front-list.ts';

const minOnShelf = 3;
const maxCollections = 2;

/** Chooses the first collections in a language of the reader that fill a shelf, and their bots, none of them twice. */
export function chooseCollections(
  linked: readonly LinkedCollection[],
  languages: readonly Locale[],
): LinkedCollection[] {
  const chosen: LinkedCollection[] = [];
  for (const { collection, listed } of linked) {
    const free = listed.filter((bot) => !chosen.some((other) => other.listed.includes(bot)));
    const isKnown = isIn(languages, [...collection.contents.keys()]);
    if (chosen.length < maxCollections && isKnown && free.length >= minOnShelf)
      chosen.push({ collection, listed: free.slice(0, maxOnShelf) });
  }
  return chosen;
}

/**
 * Chooses the bots on each shelf, none of them twice: those with a page in a language of the reader, then one other. A shelf
 * with fewer than three is left out; where that leaves none, others fill the shelves. The shelf of all bots has all.
 * @param taken the bots on shelves of collections
 */
export function chooseShelves(
  shelves: readonly Shelf[],
  languages: readonly Locale[],
  taken: ReadonlySet<IndexedBot> = new Set(),
): Shelf[] {
  const chosen = fillShelves(shelves, languages, taken, 1);
  return chosen.length > 0 ? chosen : fillShelves(shelves, languages, taken, maxOnShelf);
}

function fillShelves(
  shelves: readonly Shelf[],
  languages: readonly Locale[],
  taken: ReadonlySet<IndexedBot>,
  maxOthers: number,
): Shelf[] {
  const isOwn = ({ bot }: FrontEntry): boolean => isIn(languages, bot.facts.locales);
  const shown = new Set(taken);
  return shelves.flatMap(({ sort, entries }): Shelf[] => {
    const free = sort === 'popular' ? entries : entries.filter(({ bot }) => !shown.has(bot));
    const own = free.filter(isOwn);
    const others = free.filter((entry) => !isOwn(entry));
    if (sort === 'popular') return [{ sort, entries: [...own, ...others] }];
    const chosen = [...own, ...others.slice(0, maxOthers)].slice(0, maxOnShelf);
    if (chosen.length < minOnShelf) return [];
    for (const { bot } of chosen) shown.add(bot);
    return [{ sort, entries: chosen }];
  });
}
