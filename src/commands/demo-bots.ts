import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BotId } from '../bot/id.ts';
import type { Locale } from '../bot/locale.ts';
import type { Category, FullImages, MainPage } from '../bot/schema-types.ts';
import { toCanonicalForm } from '../catalogue/page/canonical-form.ts';
import { pathOf } from '../catalogue/page/layout.ts';

/** A bot of the demo: an entry of assets/demo.json, with its slug. Times are in days before now. */
export interface DemoBot {
  readonly slug: string;
  readonly category: Category;
  /** The same number is the same person. */
  readonly author: number;
  readonly created: number;
  readonly edited: number;
  /** The count today; left out for a bot that posts none. */
  readonly servers?: number;
  /** The count divided by the one of 30 days before. */
  readonly growth?: number;
  /** When the last count was posted, where that is not today. */
  readonly lastCount?: number;
  readonly permissions?: string;
  readonly invite?: string;
  readonly prefix?: readonly string[];
  readonly customisable?: boolean;
  readonly mentionable?: boolean;
  /** How many. */
  readonly screenshots?: number;
  readonly cover?: boolean;
  readonly repository?: boolean;
  readonly website?: boolean;
  readonly support?: boolean;
  readonly verified?: boolean;
  readonly adult?: boolean;
  /** Locale → the page in that language, the default language first. */
  readonly contents: Readonly<Record<string, DemoContent>>;
}

interface DemoContent {
  readonly name: string;
  readonly description: string;
  readonly page: string;
}

/** Reads the bots of the demo. */
export function readDemoBots(): readonly DemoBot[] {
  const json = readFileSync(fileURLToPath(import.meta.resolve('#assets/demo.json')), 'utf8');
  const bots = JSON.parse(json) as Record<string, Omit<DemoBot, 'slug'>>;
  return Object.entries(bots).map(([slug, bot]) => ({ slug, ...bot }));
}

/** Returns the id of a bot, the same in every demo: 18 digits. */
export function toDemoId({ slug }: DemoBot): BotId {
  return toDigits(slug) as BotId;
}

/** Returns where the images of a bot would be, if it existed. */
export function listDemoImages({ slug, screenshots = 0, cover = false }: DemoBot): FullImages {
  const folder = `https://pictures.example/${slug}`;
  return {
    avatar: `${folder}/avatar.png`,
    cover: cover ? `${folder}/cover.png` : null,
    preview: Array.from({ length: screenshots }, (_, i) => `${folder}/screenshot-${i + 1}.png`),
  };
}

/** Yields the files of a bot in the catalogue: path → text. @param now milliseconds since the epoch */
export function* generateFiles(bot: DemoBot, now: number): Generator<readonly [string, string]> {
  for (const [i, [locale, { name, description, page }]] of Object.entries(bot.contents).entries()) {
    const data = { name, description, ...(i === 0 && createSharedKeys(bot, now)) };
    const text = `---\n${JSON.stringify(data)}\n---\n\n${page}\n`;
    yield [pathOf(toDemoId(bot), locale as Locale), toCanonicalForm(text)];
  }
}

function createSharedKeys(bot: DemoBot, now: number): Omit<MainPage, 'name' | 'description'> {
  const { slug, permissions, prefix = [], customisable = false, mentionable = false } = bot;
  const id = toDemoId(bot);
  const scope = 'scope=bot%20applications.commands';
  const requested = permissions === undefined ? '' : `&permissions=${permissions}`;
  return {
    authors: [toDigits(`author ${bot.author}`)],
    category: bot.category,
    ...(bot.repository && { codehost: { owner: 'botshelf-demo', repo: slug } }),
    created: now - bot.created * msPerDay,
    edited: now - bot.edited * msPerDay,
    images: listDemoImages(bot),
    invite: bot.invite ?? `https://discord.com/oauth2/authorize?client_id=${id}${requested}&${scope}`,
    nsfw: bot.adult ?? false,
    support: bot.support ? `https://${slug}.example/support` : null,
    trigger: { prefix: [...prefix], customisable, mentionable },
    verified: bot.verified ?? false,
    website: bot.website ? `https://${slug}.example/` : null,
  };
}

const msPerDay = 86_400_000;

/** Returns 18 digits, the same for the same text. */
function toDigits(text: string): string {
  const number = BigInt(`0x${hash('sha256', text).slice(0, 15)}`);
  return String(10n ** 17n + (number % (9n * 10n ** 17n)));
}
