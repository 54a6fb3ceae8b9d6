import { readOrigin } from '../../git/origin.ts';
import { removeCredentials } from '../../git/process/git-error.ts';
import { readHead, readRef, stateRef } from '../../git/refs.ts';
import type { Repository } from '../../git/repository.ts';
import { createRemoteNotice } from '../../app/remote-notice.ts';
import { describeRemoteError } from '../../sync/remote-error.ts';
import { failure, fine, inClone, type Outcome, toOutcome, type DoctorContext, warning } from './results.ts';

/** The remote can be read, and has the branch. */
export const checkRemote = inClone(async (repository, context) => {
  const { config, repositoryOpener } = context;
  if (config.remote === null) {
    const notice = createRemoteNotice(config, await readOrigin(repositoryOpener));
    return notice === null ? fine('none is set') : warning(...splitNotice(notice));
  }
  const own = repository.branch().replace('refs/heads/', '');
  const { remote } = config.remote;
  const branch = config.remote.branch ?? own;
  const refs = ['HEAD', `refs/heads/${branch}`, stateRef];
  const listed = await runRemote(context, repository, ['ls-remote', '--symref', remote, ...refs]);
  if (typeof listed !== 'string') return listed;
  const defaultBranch = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(listed)?.[1];
  const wanted = config.remote.branch ?? defaultBranch ?? own;
  if (wanted !== own && (await readRef(repository, `refs/heads/${wanted}`)) !== null)
    return warning(
      `the clone is on ${own}, and ${config.remote.branch === null ? 'the default branch of the remote' : 'BOTSHELF_BRANCH'} is ${wanted}`,
      `git switch ${wanted}, or set BOTSHELF_BRANCH=${own} where that is meant`,
    );
  if (listed.includes(`\trefs/heads/${branch}\n`))
    return fine(`it can be read, and has ${branch}${listed.includes(stateRef) ? ' and the counts' : ''}`);
  return defaultBranch === undefined
    ? warning(
        `it can be read, but has no branch ${branch}`,
        `git push ${removeCredentials(remote)} ${branch}`,
      )
    : failure(
        `it can be read, but has no branch ${branch}; its default branch is ${defaultBranch}`,
        `set BOTSHELF_BRANCH=${defaultBranch}`,
      );
});

function splitNotice(notice: string): [string, string] {
  const [reason = '', fix = ''] = notice.split('; ');
  return [reason, fix];
}

/** The remote takes what this service pushes. */
export const checkPush = inClone(async (repository, context) => {
  const { config } = context;
  if (config.remote === null) return fine('not checked: no remote is set');
  const head = await readHead(repository);
  if (head === null) return fine('not checked: there is no commit yet');
  // A ref that no remote has is never refused for being behind.
  const specification = `${head}:refs/botshelf/doctor`;
  const pushed = await runRemote(context, repository, [
    'push',
    '--dry-run',
    '--no-verify',
    '--quiet',
    config.remote.remote,
    specification,
  ]);
  return typeof pushed === 'string' ? fine('the remote takes pushes of this user') : pushed;
});

/** Runs git against the remote. Returns its output, or what keeps it from working. */
async function runRemote(
  { signal }: DoctorContext,
  repository: Repository,
  args: readonly string[],
): Promise<string | Outcome> {
  try {
    return await repository.run(args, { timeLimit: 30, signal });
  } catch (error) {
    return failure(
      describeRemoteError(error),
      'check the address, the network and the deploy key as the service\'s user; see "Access to the Git server" in docs/several-machines.md',
    );
  }
}

/** The clocks agree: of two counts the later wins. */
export const checkClock = inClone(async (repository, { config, signal }) => {
  if (config.remote === null) return fine('not checked: there is no remote to compare with');
  const { remote } = config.remote;
  const named = await repository.run(['remote', 'get-url', remote]).catch(() => remote);
  const address = named.trim();
  if (!/^https?:/.test(address) || !URL.canParse(address))
    return fine('not checked: the remote is not reached over http');
  const sent = Date.now();
  const response = await fetch(new URL('/', address).origin, {
    method: 'HEAD',
    redirect: 'manual',
    signal,
  }).catch(() => undefined);
  const date = Date.parse(response?.headers.get('date') ?? '');
  if (Number.isNaN(date)) return fine('not checked: the remote sends no date');
  return assessClock((sent + Date.now()) / 2 - date);
});

/** @param ahead milliseconds by which this clock is ahead of that of the remote, which has whole seconds */
export function assessClock(ahead: number): Outcome {
  const seconds = Math.round(Math.abs(ahead) / 1000);
  if (seconds <= 2) return fine('it agrees with that of the remote');
  const reason = `it is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} that of the remote`;
  return toOutcome(seconds > 60 ? 'error' : 'warning', `${reason}: timedatectl set-ntp true`);
}
