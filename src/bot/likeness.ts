import { parseUrl } from '../lib/network.ts';

/**
 * Returns keys of a name. Two names are the same if they have a key in common: without case, accents, width, blanks,
 * punctuation and invisible characters, and with letters and digits that look alike as one. So are names with the same
 * slug. A name of symbols alone keeps them.
 */
export function toNameKeys(name: string): readonly string[] {
  const visible = name.normalize('NFKD').replaceAll(/[\p{M}\p{Cf}\s]+/gu, '');
  const letters = visible.replaceAll(/[^\p{L}\p{N}|]+/gu, '') || visible;
  // The bar looks like an l, and slugs leave it out.
  const spellings = letters.includes('|') ? [letters, letters.replaceAll('|', '')] : [letters];
  return spellings.filter((spelling) => spelling !== '').map(fold);
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

/** Latin letters, each with characters that look like it in either case, as in the confusables of UTS 39. */
const lookalikes = new Map(
  Object.entries({
    a: 'аαɑ',
    b: 'вβ',
    c: 'сϲ',
    d: 'ԁ',
    e: 'еε',
    g: 'ɡց',
    h: 'нһηհ',
    j: 'јϳ',
    k: 'кκ',
    l: 'i1|іιɩӏǀ',
    m: 'мμ',
    n: 'νոռ',
    o: '0оοօ',
    p: 'рρ',
    q: 'ԛ',
    s: 'ѕ',
    t: 'тτ',
    u: 'սυ',
    v: 'ѵ',
    w: 'ԝ',
    x: 'хχ',
    y: 'уүγ',
    z: 'ζ',
  }).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter] as const)),
);

const lookalike = new RegExp(`[${[...lookalikes.keys()].join('')}]`, 'gu');

/**
 * Returns a key that is equal for invites which add the same bot: the OAuth client where the address names one, with
 * any permissions; else host, path and query. Undefined when `invite` is not an address.
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
