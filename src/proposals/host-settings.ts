import { type GitHostId, gitHosts } from '../git/hosts.ts';
import type { SettingReader } from '../lib/setting-reader.ts';

/** How proposals reach the Git host that reviews them. */
export interface HostSettings {
  /** Null where it is guessed from the name of the host. */
  readonly kind: GitHostId | null;
  /** The address of GitHub's API, without a slash at its end; null for the usual one. */
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
  return { kind, api, token };
}
