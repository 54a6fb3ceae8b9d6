import { type BotId, parseBotId } from '../../bot/id.ts';
import { parseInvite } from '../../bot/invite.ts';
import { toNameSlug } from '../../bot/likeness.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { parseUrl } from '../../lib/network.ts';
import type { PageParts } from '../page/page-context.tsx';

/** The bots that lines of a form name: ids, invite links, addresses, and exact names in any language. */
export interface NamedBots {
  readonly ids: readonly BotId[];
  /** Lines that no bot matches. */
  readonly unknown: readonly string[];
  /** Names that several bots have. */
  readonly shared: readonly { readonly name: string; readonly bots: readonly IndexedBot[] }[];
}

/**
 * Finds the bots of the first hundred lines, one after the other, because each name is a search. An id is returned also
 * if no bot has it.
 * @throws {BotshelfError} queue-full or share-full
 */
export async function findNamedBots(
  texts: readonly string[],
  { lists }: Pick<PageParts, 'lists'>,
  address: string,
): Promise<NamedBots> {
  const lines = texts.flatMap((text) => text.split('\n')).map((line) => line.trim().slice(0, maxLineLength));
  const ids: BotId[] = [];
  const unknown: string[] = [];
  const shared: NamedBots['shared'][number][] = [];
  for (const line of [...new Set(lines.filter(Boolean))].slice(0, maxLines)) {
    const named = parseLine(line);
    const id = parseBotId(named);
    const bots = id === undefined ? await findByName(named, lists, address) : [];
    if (id !== undefined) ids.push(id);
    else if (bots.length === 1) ids.push(...bots.map((bot) => bot.id));
    else if (bots.length > 1) shared.push({ name: named, bots });
    else unknown.push(line.toWellFormed());
  }
  return { ids, unknown, shared };
}

/** The same as bots that can be watched. */
const maxLines = 100;
const maxLineLength = 300;
/** Bots of one name that can be chosen. */
const maxSameName = 20;

/** Returns the id or the name of a line: that of an address, without the number that accounts once had after a name. */
function parseLine(line: string): string {
  const url = parseUrl(/^[\w.-]+\.\w+\//.test(line) ? `https://${line}` : line);
  const [client] = parseInvite(url?.href ?? '')?.clients ?? [];
  if (client !== undefined) return client;
  const parts = url?.pathname.split('/').filter(Boolean) ?? [];
  const id = /^<@!?(\d+)>$/.exec(line)?.[1] ?? parts.find((part) => parseBotId(part));
  return id ?? toName(parts.at(-1)) ?? line.replace(/#\d{4}$/, '');
}

/** Returns the words in the last part of an address. */
function toName(part: string | undefined): string | undefined {
  try {
    return part && decodeURIComponent(part).replaceAll('-', ' ');
  } catch {
    return part;
  }
}

async function findByName(name: string, lists: PageParts['lists'], address: string): Promise<IndexedBot[]> {
  const slug = toNameSlug(name);
  const q = name.slice(0, 200);
  const { bots } = await lists.page({ q, limit: maxSameName }, address);
  return bots.filter((bot) =>
    Object.values(parseListElement(bot).contents).some((content) =>
      slug === '' ? content.name === name : toNameSlug(content.name) === slug,
    ),
  );
}
