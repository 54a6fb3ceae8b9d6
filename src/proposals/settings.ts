import { type GitHostId, gitHosts } from '../git/hosts.ts';
import type { SettingReader } from '../lib/setting-reader.ts';

/** How proposals reach the Git host that reviews them. */
export interface HostSettings {
  /** Null if it is guessed from the name of the host. */
  readonly kind: GitHostId | null;
  /** The address of the host's API, without a slash at its end; null for the usual one. */
  readonly api: string | null;
  /** The token for that API, a secret. */
  readonly token: string | null;
}

/** Reads the settings of the Git host. @param isUsed whether proposals are reviewed there */
export function readHostSettings(reader: SettingReader, isUsed: boolean): HostSettings {
  const kind = reader.choice('BOTSHELF_HOST_KIND', Object.keys(gitHosts) as GitHostId[]) ?? null;
  const token = reader.secret('BOTSHELF_HOST_TOKEN') ?? null;
  const api = reader.text('BOTSHELF_HOST_API')?.replace(/\/+$/, '') ?? null;
  if (api !== null && !/^(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1)[:/])[^\s@?#]+$/.test(api))
    reader.faults.push(
      'BOTSHELF_HOST_API is not an address that can be used: give one such as https://github.example.org/api/v3.',
    );
  if (isUsed && reader.text('BOTSHELF_REMOTE') === undefined)
    reader.faults.push(
      'BOTSHELF_PROPOSALS is host, but BOTSHELF_REMOTE is not set: proposals are pushed to the remote.',
    );
  if (isUsed && token === null)
    reader.faults.push(
      'BOTSHELF_PROPOSALS is host, but BOTSHELF_HOST_TOKEN is not set: give a token of the host that may write pull requests.',
    );
  return { kind, api, token };
}

/** Reads the address that notices are sent to; null if none is set. It is a secret: no fault has it. */
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
