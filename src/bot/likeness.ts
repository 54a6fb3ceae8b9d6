import { parseUrl } from '../lib/network.ts';

/**
 * Returns keys of a name: two names count as the same if they share a key. A key has letters and digits only, without
 * case, accents and width, and characters that look alike are one. Signs such as those of C++ and C# are kept. So names
 * with the same slug are the same except for such signs, and a name of symbols alone has no key.
 */
export function toNameKeys(name: string): readonly string[] {
  const visible = name.normalize('NFKD').replaceAll(/[\p{M}\p{Cf}\s]+/gu, '');
  const letters = visible.match(/\p{L}[+#]+|[\p{L}\p{N}|]/gu)?.join('') ?? '';
  // Slugs leave out the bar, which looks like an l.
  const withoutBars = letters.replaceAll('|', '');
  return withoutBars === '' ? [] : [...new Set([letters, withoutBars])].map(fold);
}

/** Returns the end of the address of a name: its letters and digits of any script, in lower case, with hyphens between words. */
export function toNameSlug(name: string): string {
  const words = name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/['’]/g, '')
    .match(/[\p{L}\p{M}\p{N}]+/gu);
  return words?.join('-') ?? '';
}

function fold(text: string): string {
  // Both cases of ß become ss.
  return text
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll(lookalike, (character) => lookalikes.get(character) ?? character)
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/** Latin letters, each with characters that look like it in either case, as in the confusables of UTS 39, and its small capital. */
const lookalikes = new Map(
  Object.entries({
    a: 'аαɑᴀ',
    b: 'вβʙ',
    c: 'сϲᴄ',
    d: 'ԁᴅ',
    e: 'еεᴇ',
    f: 'ꜰ',
    g: 'ɡցɢ',
    h: 'нһηհʜ',
    j: 'јϳᴊ',
    k: 'кκᴋ',
    l: 'i1|іιɩӏǀɪʟ',
    m: 'мμᴍ',
    n: 'νոռɴ',
    o: '0оοօᴏ',
    p: 'рρᴘ',
    q: 'ԛꞯ',
    r: 'ʀ',
    s: 'ѕꜱ',
    t: 'тτᴛ',
    u: 'սυᴜ',
    v: 'ѵᴠ',
    w: 'ԝᴡ',
    x: 'хχ',
    y: 'уүγʏ',
    z: 'ζᴢ',
  }).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter] as const)),
);

const lookalike = new RegExp(`[${[...lookalikes.keys()].join('')}]`, 'gu');

/**
 * Returns a key that is equal for invites which add the same bot: the OAuth client where the address names one, with
 * any permissions; else host, path and query. Undefined if `invite` is not an address.
 */
export function toInviteKey(invite: string): string | undefined {
  const url = parseUrl(invite);
  if (url === undefined) return undefined;
  const host = url.hostname.replace(/^www\.|\.$/g, '').replace(discordHost, 'discord.com');
  const client = url.searchParams.get('client_id');
  if (client !== null && /^\d{1,20}$/.test(client))
    return `${host} client ${client.replace(/^0+(?=\d)/, '')}`;
  url.searchParams.sort();
  return `${host}${url.pathname.replace(/(?<!\/)\/+$/, '')}${url.search}`;
}

const discordHost = /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/;
