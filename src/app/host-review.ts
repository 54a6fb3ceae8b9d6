import { gitHosts, guessGitHost } from '../git/hosts.ts';
import { parseRemote, readRemoteUrl } from '../git/origin.ts';
import type { RepositoryOpener } from '../git/repository.ts';
import { UserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { HostReview } from '../proposals/host-review.ts';
import type { Proposals } from '../proposals/proposals.ts';
import type { Config } from './config.ts';

/**
 * Opens the review at the Git host. Null where proposals are reviewed elsewhere.
 * @throws {UserError} where the settings do not say which host it is, or lack its token
 */
export async function openHostReview(
  { proposals: way, remote, hostReview: { kind, api, token }, baseUrl }: Config,
  proposals: Proposals | null,
  repositoryOpener: RepositoryOpener,
  log: Log,
): Promise<HostReview | null> {
  if (way !== 'host' || remote === null || proposals === null) return null;
  const repository = await repositoryOpener.open();
  const place = parseRemote(await readRemoteUrl(repository, remote.remote));
  const host = kind === null ? guessGitHost(place?.host ?? '') : gitHosts[kind];
  if (place === undefined || host === undefined)
    throw new UserError(
      'BOTSHELF_PROPOSALS is host, but BOTSHELF_REMOTE does not show which software its host has: set BOTSHELF_HOST_KIND, and a remote with an address such as https://git.example.org/people/list',
    );
  if (host.review === 'rest' && token === null)
    throw new UserError(
      'BOTSHELF_PROPOSALS is host, but BOTSHELF_HOST_TOKEN is not set: give a token of GitHub that may write pull requests',
    );
  const usual = place.host === 'github.com' ? 'https://api.github.com' : `https://${place.host}/api/v3`;
  return new HostReview({
    repositoryOpener,
    proposals,
    host,
    remote: remote.remote,
    branch: remote.branch ?? repository.branch().replace('refs/heads/', ''),
    home: `https://${place.host}/${place.path}`,
    github:
      token === null || host.review !== 'rest' ? null : { api: api ?? usual, repository: place.path, token },
    baseUrl,
    log,
  });
}
