import type { MainPage, Translation } from '../src/bot/schema-types.ts';
import { parseBotId } from '../src/bot/id.ts';
import { parseLocale } from '../src/bot/locale.ts';
import { pathOf } from '../src/catalogue/page/layout.ts';
import { type Language, languages } from './languages.ts';
import { capitalised, longestPage, markdown, sentence } from './page-text.ts';
import { Random, Ranked } from './random.ts';

/** A page file: its path below the catalogue's folder, and what it says. */
export interface PageText {
  readonly path: string;
  readonly text: string;
}

/**
 * Invents bots, in the order of their ids, and yields their pages: of each bot the main page, then its
 * translations. The same count and seed make the same pages.
 */
export function* generateBots(bots: number, seed: number): Generator<PageText> {
  const random = new Random(seed);
  const spoken = languages();
  const byUse = new Ranked(
    spoken.flatMap((language, rank) => (rank === 0 ? [language, language] : language)),
  );
  const step = (latest - earliest) / bots;
  for (let index = 0; index < bots; index++) {
    const registered = Math.floor(earliest + (index + random.fraction()) * step);
    const id = snowflake(registered, random);
    const main = random.chance(0.75) ? (spoken[0] as Language) : byUse.draw(random);
    const name = nameIn(main, random);
    yield page(id, main, mainKeys(id, name, main, registered, random), random);

    const others = new Set<Language>();
    const translations = random.chance(0.3) ? random.pick([1, 1, 1, 2, 2, 3]) : 0;
    while (others.size < translations) {
      const other = byUse.draw(random);
      if (other !== main) others.add(other);
    }
    for (const other of others) {
      const translated = random.chance(0.7) ? name : nameIn(other, random);
      yield page(id, other, { name: translated, description: describe(other, random) }, random);
    }
  }
}

const earliest = Date.UTC(2016, 0, 1);
const latest = Date.UTC(2026, 0, 1);
const firstListed = Date.UTC(2018, 0, 1);

/** Ids count milliseconds since 2015 in their upper bits; the lower 22 tell apart what a millisecond brought. */
function snowflake(time: number, random: Random): string {
  return String((BigInt(time - Date.UTC(2015, 0, 1)) << 22n) | BigInt(random.integer(0, 2 ** 22 - 1)));
}

function page(digits: string, language: Language, keys: MainPage | Translation, random: Random): PageText {
  const id = parseBotId(digits);
  const locale = parseLocale(language.locale);
  if (id === undefined || typeof locale === 'object')
    throw new Error(`no page can be at ${digits} ${language.locale}`);
  const length = Math.min(
    random.chance(0.006) ? random.integer(10_000, longestPage) : random.logNormal(950, 0.75),
    longestPage / language.density,
  );
  const text = random.chance(0.02) ? '' : `\n${markdown(keys.name, language, random, length)}\n`;
  return { path: pathOf(id, locale), text: `---\n${JSON.stringify(keys, null, 2)}\n---\n${text}` };
}

function nameIn({ inventions, space, words }: Language, random: Random): string {
  const first = capitalised(random.pick(inventions));
  const name = random.chance(0.4) ? `${first}${space}${capitalised(words.draw(random))}` : first;
  return name.slice(0, 32).trim();
}

function describe(language: Language, random: Random): string {
  return sentence(language, random, random.integer(30, 170) / language.density, 200);
}

function mainKeys(id: string, name: string, main: Language, registered: number, random: Random): MainPage {
  const created = Math.min(Math.max(registered, firstListed) + random.integer(0, 400 * day), latest);
  const host = random.bits().toString(36);
  const picture = (size: string): string =>
    `https://images.example.org/${id}/${hash(random)}.png?size=${size}`;
  return {
    name,
    description: describe(main, random),
    authors: Array.from({ length: random.pick([1, 1, 1, 1, 2, 3]) }, (_, index) =>
      snowflake(registered - (index + 1) * day, random),
    ),
    category: categories.draw(random),
    ...(random.chance(0.3) && { codehost: { owner: `owner-${host}`, repo: `bot-${id.slice(0, 4)}` } }),
    created,
    edited: Math.min(created + (random.chance(0.7) ? random.integer(0, 500 * day) : 0), latest),
    images: {
      avatar: random.chance(0.95) ? picture('512') : null,
      cover: random.chance(0.4) ? picture('1280') : null,
      preview: Array.from({ length: random.pick([0, 0, 0, 1, 2, 4]) }, () => picture('1280')),
    },
    invite: `https://chat.example.com/oauth2/authorize?client_id=${id}&scope=bot&permissions=${random.bits()}`,
    legacy: random.chance(0.05),
    nsfw: random.chance(0.04),
    oauth: random.chance(0.1) ? snowflake(registered, random) : null,
    random: random.fraction(),
    support: random.chance(0.8) ? `https://chat.example.com/invite/${host}` : null,
    trigger: {
      prefix: random.pick(prefixes),
      customisable: random.chance(0.5),
      mentionable: random.chance(0.3),
    },
    verified: random.chance(0.12),
    website: random.chance(0.5) ? `https://${host}.example.org/` : null,
  };
}

const day = 24 * 60 * 60 * 1000;

const prefixes = [[], ['!'], ['?'], ['.'], ['/'], ['>', '>>'], ['bot ', 'b!']];

const categories = new Ranked<MainPage['category']>([
  'utility',
  'moderation',
  'fun',
  'music',
  'games',
  'other',
  'productivity',
  'entertainment',
  'image',
  'notifications',
  'education',
  'news',
]);

function hash(random: Random): string {
  const part = (): string => random.bits().toString(16).padStart(8, '0');
  return part() + part() + part() + part();
}
