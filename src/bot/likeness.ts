/**
 * Returns a key that is equal for names which people take for the same: without case, accents, width, blanks and
 * invisible characters. Empty where nothing is left.
 */
export function toNameKey(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}\s]+/gu, '')
    .toUpperCase()
    .toLowerCase();
}

/**
 * Returns a key that is equal for invites which add the same bot: the OAuth client where the address names one, with
 * any permissions; else host, path and query. Undefined when `invite` is not an address.
 */
export function toInviteKey(invite: string): string | undefined {
  if (!URL.canParse(invite)) return undefined;
  const url = new URL(invite);
  const host = url.hostname.replace(/^www\./, '').replace(discordHost, 'discord.com');
  const client = url.searchParams.get('client_id');
  if (client !== null && /^\d{1,20}$/.test(client)) return `${host} client ${client}`;
  url.searchParams.sort();
  return `${host}${url.pathname.replace(/(?<!\/)\/+$/, '')}${url.search}`;
}

const discordHost = /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/;
