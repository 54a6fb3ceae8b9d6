import { isMainPage, isReadable } from '../catalogue/page/rules.ts';
import type { PageFile } from '../catalogue/page/page-file.ts';
import {
  type Blocked,
  type BlockedName,
  describeBlocked,
  findBlocked,
  nothingBlocked,
} from '../catalogue/settings/blocked.ts';
import { type IndexedBot, parseListElement } from '../catalogue/store/bot-index.ts';
import { listNumbers } from '../bot/invite.ts';
import type { Fault } from '../catalogue/page/fault.ts';

/** The name of the rule. */
export const blockedRule = 'blocked';

/**
 * Finds what is blocked among the id and the OAuth clients of a bot, its authors, and the hosts of the addresses on its main page.
 * @param showsReasons whether messages say why: they are then for maintainers
 */
export function checkBlocked(files: readonly PageFile[], blocked: Blocked, showsReasons: boolean): Fault[] {
  const main = files.filter(isReadable).find(isMainPage);
  if (main === undefined || blocked === nothingBlocked) return [];
  const { id, page } = main;
  const places = listTexts(page.data).map(({ place, text }) => {
    if (place[0] === 'authors') return { place, named: { authors: [text] } };
    return { place, named: { addresses: [text], bots: listClients({ [String(place[0])]: text }) } };
  });
  return [{ place: [], named: { bots: [id] } }, ...places].flatMap(({ place, named }) =>
    findBlocked(blocked, named).map((name) =>
      page.faultAt(place, blockedRule, describeBlocked(name, showsReasons)),
    ),
  );
}

/** Returns what is blocked of a bot that is listed. */
export function findBlockedIn(bot: IndexedBot, blocked: Blocked): BlockedName[] {
  const { invite, oauth, website, support, images } = parseListElement(bot);
  const addresses = [invite, website, support, images.avatar, images.cover, ...images.preview];
  const bots = new Set([bot.id, ...listClients({ invite, oauth })]);
  return findBlocked(blocked, { bots: [...bots], authors: bot.facts.authors, addresses });
}

/** Returns the OAuth clients that a bot may be: a bot that is blocked stays so under another id of its page. */
function listClients({
  invite,
  oauth,
}: {
  readonly invite?: string;
  readonly oauth?: string | null;
}): string[] {
  return [...new Set([...listNumbers(invite ?? ''), ...(oauth ? [oauth] : [])])];
}

interface PlacedText {
  readonly place: readonly (string | number)[];
  readonly text: string;
}

/** Returns all texts of a value of JSON. */
function listTexts(value: unknown, place: PlacedText['place'] = []): PlacedText[] {
  if (typeof value === 'string') return [{ place, text: value }];
  if (Array.isArray(value)) return value.flatMap((entry, i) => listTexts(entry, [...place, i]));
  return Object.entries(value ?? {}).flatMap(([key, entry]) => listTexts(entry, [...place, key]));
}
