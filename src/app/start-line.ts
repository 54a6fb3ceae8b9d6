import type { Config } from './config.ts';
import { removeCredentials } from '../git/process/git-error.ts';
import type { Log } from '../lib/log.ts';
import { formatVersion, type Version } from './version.ts';
import { formatCount } from '../lib/counted.ts';

/** What a service that has started says of itself. */
export interface Started {
  readonly build: Version;
  /** Bots that are served. */
  readonly bots: number;
  /** Where it listens, such as http://127.0.0.1:8080. */
  readonly address: string;
  /** Whether the counts and tokens are there; false while they have not been fetched from the remote. */
  readonly ready: boolean;
  /** Milliseconds since the start. */
  readonly ms: number;
}

/** Logs the one line that says what runs, with what and where. */
export function logStart(
  log: Log,
  config: Pick<Config, 'catalogue' | 'remote' | 'login'>,
  { build, bots, address, ready, ms }: Started,
): void {
  const { catalogue } = config;
  const remote = config.remote && removeCredentials(config.remote.remote);
  const login = config.login?.issuer ?? null;
  const fields = { ...build, catalogue, bots, remote, login, address, ms };
  const parts = [
    `${formatVersion(build)} serves ${formatCount(bots, 'bot')} of ${catalogue}`,
    remote === null ? 'no remote' : `remote ${remote}`,
    login === null ? 'no login' : `login at ${login}`,
  ];
  const line = parts.join(', ');
  if (ready) log.info(fields, `${line}; ready at ${address}`);
  else log.warn(fields, `${line}; listening at ${address}, but not ready: ${noState}`);
}

const noState =
  'the counts and tokens of the bots have not been fetched from the remote yet, and a new clone has none; retrying';
