import { mkdirSync } from 'node:fs';
import { once } from 'node:events';
import { execFileSync, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MainPage, Translation } from '../schemas/types.ts';
import { type BotId, parseBotId } from '../src/bot/id.ts';
import { parseLocale } from '../src/bot/locale.ts';
import { pathOf } from '../src/catalogue/page/layout.ts';
import { type Language, languages } from './languages.ts';
import { Random, Ranked } from './random.ts';

/**
 * Makes a Git repository of `folder`, with the pages of invented bots in its one commit on `main`, checked out. The same count
 * and seed make the same files. The pages stream through one `git fast-import`, so their number costs no memory here.
 * Returns the bots with the paths of their main pages, in the order of their ids.
 * @throws {Error} when git fails.
 */
export async function generateRepository(folder: string, bots: number, seed = 1): Promise<MainPlace[]> {
  const mains: MainPlace[] = [];
  mkdirSync(folder, { recursive: true });
  const git = (...args: string[]): Buffer => execFileSync('git', args, { cwd: folder });
  git('init', '-q', '-b', 'main');
  // What the service writes must not show up as changed; what git writes must be the bytes of the pages.
  git('config', 'core.autocrlf', 'false');
  await importCommits(
    folder,
    commitPages(generateBots(bots, seed, mains), `Begin with ${bots} invented bots`),
  );
  git('-c', 'checkout.workers=0', 'reset', '-q', '--hard');
  return mains;
}

/** Runs `git fast-import` on a stream of its commands. @throws {Error} when git fails */
export async function importCommits(folder: string, commands: Iterable<Buffer | string>): Promise<void> {
  const options = ['-c', 'core.compression=1', 'fast-import', '--quiet', '--depth=0'];
  const child = spawn('git', options, { cwd: folder, stdio: ['pipe', 'inherit', 'inherit'] });
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  await pipeline(Readable.from(commands), child.stdin);
  const [code, signal] = await ended;
  if (code !== 0) throw new Error(`git fast-import ended with ${signal ?? code}`);
}

function* commitPages(pages: Iterable<PageText>, message: string): Generator<Buffer> {
  const who = 'Botshelf <botshelf@example.org> 1767225600 +0000';
  let chunk = `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\ndata ${message.length}\n${message}\n`;
  chunk += importFile('.gitignore', '/var/\n');
  for (const { path, text } of pages) {
    chunk += importFile(path, text);
    if (chunk.length < 2 ** 20) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  yield Buffer.from(chunk);
}

/** Returns the command that adds a file to a commit. */
export function importFile(path: string, text: string): string {
  return `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
}

/** A bot, and the path of its main page below the catalogue's folder. */
export interface MainPlace {
  readonly id: BotId;
  readonly path: string;
}

/** A page file: its bot, its path below the catalogue's folder, and its text. */
interface PageText extends MainPlace {
  readonly text: string;
}

/**
 * Invents bots, in the order of their ids, and yields their pages: of each bot the main page, then its translations. Adds
 * the places of main pages to `mains`.
 */
function* generateBots(bots: number, seed: number, mains: MainPlace[]): Generator<PageText> {
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
    const mainPage = page(id, main, mainKeys(id, name, main, registered, random), random);
    mains.push({ id: mainPage.id, path: mainPage.path });
    yield mainPage;

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
  return { id, path: pathOf(id, locale), text: `---\n${JSON.stringify(keys, null, 2)}\n---\n${text}` };
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

/** The most characters of a page, without its last line end. */
const longestPage = 20_000;

/** One sentence of at most `most` characters, without the blank behind its full stop. */
function sentence(language: Language, random: Random, length: number, most: number): string {
  const { words, space, comma, stop } = language;
  let text = capitalised(words.draw(random));
  for (let next = words.draw(random); text.length < length; next = words.draw(random)) {
    const gap = random.chance(0.08) ? comma : space;
    if (text.length + gap.length + next.length + 1 > most) break;
    text += gap + next;
  }
  return text + stop.trimEnd();
}

/** A markdown page of about `length` characters: paragraphs, lists, tables, code and quotes under headings. */
function markdown(name: string, language: Language, random: Random, length: number): string {
  let text = `# ${name}\n\n${paragraph(language, random)}`;
  while (text.length < length) {
    const next = `\n\n${random.pick(blocks)(language, random)}`;
    if (text.length + next.length > longestPage) break;
    text += next;
  }
  return text;
}

/** With a capital where the script has them. */
function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function paragraph(language: Language, random: Random): string {
  const gap = language.stop.endsWith(' ') ? ' ' : '';
  return Array.from({ length: random.integer(1, 4) }, () => line(language, random)).join(gap);
}

function line(language: Language, random: Random): string {
  return sentence(language, random, random.integer(20, 120) / language.density, 200);
}

function heading(language: Language, random: Random): string {
  return `## ${words(language, random, 2)}\n\n${paragraph(language, random)}`;
}

function list(language: Language, random: Random): string {
  const items = Array.from(
    { length: random.integer(2, 7) },
    () => `- **${words(language, random, 1)}**: ${line(language, random)}`,
  );
  return items.join('\n');
}

function table(language: Language, random: Random): string {
  const rows = Array.from(
    { length: random.integer(2, 6) },
    () => `| \`/${words(language, random, 1)}\` | ${words(language, random, 5)} |`,
  );
  return [`| ${words(language, random, 1)} | ${words(language, random, 1)} |`, '|---|---|', ...rows].join(
    '\n',
  );
}

function code(language: Language, random: Random): string {
  return `\`\`\`js\nbot.on('${words(language, random, 1)}', () => bot.send(${random.integer(1, 99)}));\n\`\`\``;
}

function quote(language: Language, random: Random): string {
  return `> ${line(language, random)}`;
}

function link(language: Language, random: Random): string {
  const path = random.bits().toString(36);
  return `${line(language, random)} [${words(language, random, 2)}](https://docs.example.org/${path})`;
}

const blocks = [paragraph, paragraph, paragraph, heading, heading, list, list, table, code, quote, link];

function words({ words, space }: Language, random: Random, count: number): string {
  return Array.from({ length: count }, () => words.draw(random)).join(space);
}
