import { type BotId, parseBotId } from '../../bot/id.ts';
import { parseInvite } from '../../bot/invite.ts';
import { toNameSlug } from '../../bot/likeness.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { parseUrl } from '../../lib/network.ts';
import { forEachInSlices } from '../../lib/time-slice.ts';
import type { PageParts } from '../page/page-context.tsx';

/** A line of a form that names a bot by its id, an invite link, an address, or its exact name in any language. */
export interface NamedBots {
  readonly line: string;
  /** Several for bots of the same name, none if no bot matches. An id in a line is here even if no bot has it. */
  readonly ids: readonly BotId[];
}

/**
 * Finds the bots of the first hundred lines, one after the other, because each name is a search.
 * @throws {BotshelfError} queue-full or share-full
 */
export async function findNamedBots(
  texts: readonly string[],
  { lists, bots }: Pick<PageParts, 'lists' | 'bots'>,
  address: string,
): Promise<NamedBots[]> {
  const lines = texts.flatMap((text) => text.split('\n')).map((line) => line.trim().slice(0, maxLineLength));
  const found: NamedBots[] = [];
  for (const line of [...new Set(lines.filter(Boolean))].slice(0, maxLines)) {
    const name = parseLine(line.toWellFormed());
    const id = parseBotId(name);
    const ids = id === undefined ? await findByName(name, lists, address) : [id];
    found.push({ line, ids });
  }
  // The client in an invite link may have another id than its bot.
  const clients = new Map<string, BotId>();
  if (found.some(({ ids }) => ids.some((id) => !bots.get(id))))
    await forEachInSlices(await bots.sorted(), ({ id, facts: { oauth } }) => {
      if (oauth !== null) clients.set(oauth, id);
    });
  return found.map(({ line, ids }) => ({
    line,
    ids: ids.map((id) => (bots.get(id) ? id : (clients.get(id) ?? id))),
  }));
}

/** Returns the bot whose name has the words of a path, such as `rooks-gambit`; null for several bots, undefined for none. */
export async function findBotOfName(
  path: string,
  { bots, cache }: Pick<PageParts, 'bots' | 'cache'>,
): Promise<IndexedBot | null | undefined> {
  const slug = toNameSlug(path);
  // A path of only digits is an id.
  if (/^\d*$/.test(slug)) return undefined;
  const { byName } = await cache.get('names', async () => {
    const byName = new Map<string, IndexedBot | null>();
    await forEachInSlices(await bots.sorted(), (bot) => {
      const name = toNameSlug(bot.facts.name);
      byName.set(name, byName.has(name) ? null : bot);
    });
    return { byName };
  });
  return byName.get(slug);
}

const maxLines = 100;
const maxLineLength = 300;

/** Returns the id in a line, or else the name: the end of an address, or the line without the `#1234` of old accounts. */
function parseLine(line: string): string {
  const [, address = ''] = /^(?:https?:\/\/)?([\w.-]+\.\w+\/.*)$/i.exec(line) ?? [];
  const { href = '', pathname = '' } = parseUrl(`https://${address}`) ?? {};
  const parts = pathname.split('/').filter(Boolean);
  const [client] = parseInvite(href)?.clients ?? [];
  const id = client ?? parts.find(parseBotId) ?? /^<@!?(\d+)>$/.exec(line)?.[1];
  // Unlike `decodeURIComponent`, it decodes any text.
  const [slug] = new URLSearchParams(parts.at(-1)).keys();
  return id ?? slug?.replaceAll('-', ' ') ?? line.replace(/#\d{4}$/, '');
}

async function findByName(name: string, lists: PageParts['lists'], address: string): Promise<BotId[]> {
  if (name.trim() === '') return [];
  const { bots } = await lists.page({ q: name.slice(0, 200), limit: maxSameName }, address);
  const slug = toNameSlug(name);
  const named = bots.filter((bot) =>
    Object.values(parseListElement(bot).contents).some((own) => toNameSlug(own.name) === slug),
  );
  return named.map(({ id }) => id);
}

/** Bots of one name that can be chosen. */
const maxSameName = 20;
