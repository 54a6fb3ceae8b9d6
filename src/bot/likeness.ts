/**
 * What two names have in common that people take for the same one: without case, accents, width, and blanks or
 * invisible characters that they differ in. Empty where nothing is left.
 */
export function nameKey(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}\s]+/gu, '')
    .toUpperCase()
    .toLowerCase();
}

/**
 * What two invites have in common that add the same bot: the OAuth client where the address names one, whatever
 * else it asks for; else host, path and query. Undefined for what is no address.
 */
export function inviteKey(invite: string): string | undefined {
  if (!URL.canParse(invite)) return undefined;
  const url = new URL(invite);
  const host = url.hostname.replace(/^www\./, '').replace(discordHost, 'discord.com');
  const client = url.searchParams.get('client_id');
  if (client !== null && /^\d{1,20}$/.test(client)) return `${host} client ${client}`;
  url.searchParams.sort();
  return `${host}${url.pathname.replace(/\/+$/, '')}${url.search}`;
}

const discordHost = /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/;
