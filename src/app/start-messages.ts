import { removeCredentials } from '../git/run-git.ts';
import type { Origin } from '../git/remotes.ts';
import { codeOf, messageOf, UserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import type { Config } from './config.ts';
import { type Version, formatVersion } from './version.ts';

/** Returns the error for an address that cannot be listened on. @param setting the one with the port */
export function toAddressError(error: unknown, host: string, port: number, setting: string): UserError {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new UserError(
        `port ${port} is in use: stop what listens there, or set ${setting} to another one`,
      );
    case 'EACCES':
      return new UserError(`port ${port} may not be used: set ${setting} to one above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new UserError(
        `${host} is not an address of this machine: set HOST to one that is, such as 127.0.0.1`,
      );
    default:
      return new UserError(`cannot listen on ${host}, port ${port}: ${messageOf(error)}`);
  }
}

/**
 * Returns a sentence for the operator of a clone that is not kept in step with its Git host; null if it is, where
 * there is no host, while somebody edits the catalogue with BOTSHELF_DEV, and for a trial, which has no public address.
 */
export function createRemoteNotice(
  { remote, dev, isBaseUrlSet }: Pick<Config, 'remote' | 'dev' | 'isBaseUrlSet'>,
  origin: Origin | null,
): string | null {
  if (origin === null || remote !== null || dev || !isBaseUrlSet) return null;
  return (
    `the clone has the remote origin (${removeCredentials(origin.remote)}), but BOTSHELF_REMOTE is not set: ` +
    'merged pull requests do not arrive here and posts are not pushed; set BOTSHELF_REMOTE=origin, ' +
    'or run "git remote remove origin" where this clone stands alone'
  );
}

/** Shows how far a start is. */
export interface StartProgress {
  show(text: string): void;
  end(): void;
}

/** Shows how many bots are read until `reading` has ended. */
export async function showBots(
  progress: StartProgress,
  bots: { readonly size: number },
  reading: Promise<void>,
): Promise<void> {
  const show = (): void => progress.show(`reading the catalogue: ${formatCount(bots.size, 'bot')} so far`);
  const timer = setInterval(show, 100);
  await reading.finally(() => clearInterval(timer));
}

/** Logs what a service that has started serves. @param hasState whether the counts and tokens of a shared list are known */
export function logStart(
  { catalogue, remote, login, readOnly }: Pick<Config, 'catalogue' | 'remote' | 'login' | 'readOnly'>,
  started: { readonly build: Version; readonly bots: number; readonly address: string; readonly ms: number },
  hasState: boolean,
  log: Log,
): void {
  const { build, bots, address, ms } = started;
  const remoteAddress = remote && removeCredentials(remote.remote);
  const issuer = login?.issuer ?? null;
  const fields = { ...build, catalogue, bots, remote: remoteAddress, login: issuer, address, ms };
  const line = [
    `${formatVersion(build)} serves ${formatCount(bots, 'bot')} of ${catalogue}${readOnly ? ', read-only' : ''}`,
    remoteAddress === null ? 'no remote' : `remote ${remoteAddress}`,
    issuer === null ? 'no login' : `login at ${issuer}`,
  ].join(', ');
  if (hasState) log.info(fields, `${line}; ready at ${address}`);
  else log.warn(fields, `${line}; listening at ${address}, but not ready: ${noState}`);
}

const noState =
  'the counts and tokens of the bots have not been fetched from the remote yet, and a new clone has none; retrying';
