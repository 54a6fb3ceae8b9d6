import type { VNode } from 'preact';
import type { Category } from '../../bot/schema-types.ts';

/** A sign of a category; its name is beside it. */
export function CategoryIcon({ category }: { readonly category: Category }): VNode {
  return (
    <svg class="icon" width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths.get(category) ?? paths.get('other')} />
    </svg>
  );
}

/** Lines in a square of 24 units. */
const paths: ReadonlyMap<Category, string> = new Map(
  Object.entries({
    education: 'M2 9l10-5 10 5-10 5zM6 11v5c3 3 9 3 12 0v-5',
    entertainment: 'M3 6h18v12H3zM3 10h18M8 6l-2 4M14 6l-2 4M20 6l-2 4',
    fun: 'M12 3a9 9 0 100 18 9 9 0 000-18M8 14c2 3 6 3 8 0M9 9v1M15 9v1',
    games: 'M3 7h18v10H3zM8 10v4M6 12h4M15 12h.1M18 12h.1',
    image: 'M3 5h18v14H3zM3 16l5-5 5 5 3-3 5 5M15 9h.1',
    moderation: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6z',
    music: 'M9 18V5l11-2v13M9 18a3 3 0 11-6 0 3 3 0 016 0zM20 16a3 3 0 11-6 0 3 3 0 016 0z',
    news: 'M4 4h13v16H6a2 2 0 01-2-2zM17 9h3v9a2 2 0 01-3 2M8 8h5M8 12h5M8 16h5',
    notifications: 'M6 16V10a6 6 0 0112 0v6l2 2H4zM10 21h4',
    other: 'M5 12h.1M12 12h.1M19 12h.1',
    productivity: 'M4 4h16v16H4zM8 12l3 3 5-6',
    utility: 'M12 4v16M4 12h16',
  }),
);
