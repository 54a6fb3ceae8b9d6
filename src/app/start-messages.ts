import { removeCredentials } from '../git/run-git.ts';
import type { Log } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import type { Config } from './config.ts';
import { type Version, formatVersion } from './version.ts';

/** Shows the progress of the start. */
export interface StartProgress {
  show(text: string): void;
  end(): void;
}

/** Shows how many bots are read until `reading` has ended. */
export async function showBots(
  progress: Pick<StartProgress, 'show'>,
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
