import { gitHosts, guessGitHost } from '../git/hosts.ts';
import type { RemotePlace } from '../git/origin.ts';
import type { RepositoryOpener } from '../git/repository.ts';
import { UserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { HostReview } from '../proposals/host-review.ts';
import type { Proposals } from '../proposals/proposals.ts';
import type { Config } from './config.ts';

/**
 * Creates the review at the Git host; null if proposals are reviewed elsewhere.
 * @param place where the remote is
 * @throws {UserError} if the settings do not say which host it is
 */
export function createHostReview(
  { proposals: way, remote, hostReview: { kind, api: root, token }, baseUrl }: Config,
  place: RemotePlace | undefined,
  proposals: Proposals | null,
  repositoryOpener: RepositoryOpener,
  log: Log,
): HostReview | null {
  if (way !== 'host' || remote === null || token === null || proposals === null) return null;
  const host = kind === null ? guessGitHost(place?.host ?? '') : gitHosts[kind];
  if (place === undefined || host === undefined)
    throw new UserError(
      'BOTSHELF_PROPOSALS is host, but BOTSHELF_REMOTE does not show which software its host has: set BOTSHELF_HOST_KIND, and a remote with an address such as https://git.example.org/people/list',
    );
  const home = `https://${place.host}/${place.path}`;
  return new HostReview({
    repositoryOpener,
    proposals,
    pulls: { api: host.api, root: root ?? host.api.root(place.host), repository: place.path, token },
    remote: remote.remote,
    branch: remote.branch,
    home,
    pullPage: `${home}/${host.pull}`,
    baseUrl,
    log,
  });
}
