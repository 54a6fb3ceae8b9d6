import { stateRef } from './refs.ts';
import { findBranch, type Repository } from './repository.ts';

/**
 * Returns the time by which things are deleted for their age, in milliseconds since the epoch: now, or a day after the newest
 * commit of branch and state if that is earlier. A clock that was set to a year ahead deletes nothing that is in use.
 * @throws {GitError}
 */
export async function readConfirmedTime(repository: Repository): Promise<number> {
  const newest = ['--sort=-committerdate', '--count=1', '--format=%(committerdate:unix)'];
  const refs = [findBranch(repository) ?? [], stateRef].flat();
  const seconds = await repository.run(['for-each-ref', ...newest, ...refs]);
  return seconds === '' ? Date.now() : Math.min(Date.now(), (Number(seconds) + secondsPerDay) * 1000);
}

const secondsPerDay = 86_400;
