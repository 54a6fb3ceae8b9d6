import { languages } from './languages.ts';
import type { Random } from './random.ts';
import type { LoadRequest } from './request.ts';

/** A search as the site sends it: the best 24. */
export function searchFor(text: string): LoadRequest {
  return {
    method: 'GET',
    path: `/api/v2/bots?nsfw=false&limit=24&q=${encodeURIComponent(text)}`,
    headers: {},
  };
}

/** One to three words, as often as they are used. */
export function someWords(random: Random): string {
  const { words } = random.pick(languages());
  return Array.from({ length: random.integer(1, 3) }, () => words.draw(random)).join(' ');
}

/** A word with two letters swapped. */
export function typo(random: Random): string {
  const [language] = languages();
  const word = random.pick((language?.inventions ?? []).filter(({ length }) => length > 6));
  const place = random.integer(1, word.length - 3);
  return `${word.slice(0, place)}${word[place + 1]}${word[place]}${word.slice(place + 2)}`;
}
