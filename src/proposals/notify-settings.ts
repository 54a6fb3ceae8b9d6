import type { SettingReader } from '../lib/setting-reader.ts';

/** Reads the address that notices are sent to; null where none is set. It is a secret: no fault has it. */
export function readNotifyUrl(reader: SettingReader): string | null {
  const url = reader.secret('BOTSHELF_NOTIFY_URL')?.trim();
  if (url === undefined || (URL.canParse(url) && isAllowed(new URL(url)))) return url ?? null;
  reader.faults.push(
    'BOTSHELF_NOTIFY_URL is not an address that notices can be sent to: give one that begins with https:// (http only for localhost and 127.0.0.1), without a user name.',
  );
  return null;
}

function isAllowed({ protocol, hostname, username, password }: URL): boolean {
  const isLocal = protocol === 'http:' && ['localhost', '127.0.0.1'].includes(hostname);
  return (protocol === 'https:' || isLocal) && username === '' && password === '';
}
