import { readConfig } from '../../app/config.ts';
import { RepositoryOpener } from '../../git/repository.ts';
import { readVersion } from '../../app/version.ts';
import { checkFiles, checkImages, checkSettings } from './content-checks.ts';
import { type DoctorCheck, runChecks, toExitCode, printResults } from './results.ts';
import { checkFileSystem, checkSpace } from './disk-checks.ts';
import { checkClone, checkGit, checkLocks } from './git-checks.ts';
import { checkOpenFiles, checkWatches } from './limit-checks.ts';
import { checkLogin } from './login-checks.ts';
import { checkClock, checkPush, checkRemote } from './remote-checks.ts';
import { checkBaseAddress, checkProxy, checkService } from './service-checks.ts';
import { checkJournal, checkState } from './state-checks.ts';

/** Every check, in the order in which they are printed. */
const checks: Readonly<Record<string, DoctorCheck>> = {
  settings: checkSettings,
  git: checkGit,
  clone: checkClone,
  'stale locks': checkLocks,
  'file system': checkFileSystem,
  'disk space': checkSpace,
  inotify: checkWatches,
  'open files': checkOpenFiles,
  remote: checkRemote,
  push: checkPush,
  clock: checkClock,
  service: checkService,
  proxy: checkProxy,
  'base address': checkBaseAddress,
  journal: checkJournal,
  state: checkState,
  files: checkFiles,
  pictures: checkImages,
  login: checkLogin,
};

/**
 * Looks at all that a service with these settings depends on, also while it runs, and prints what is wrong with what
 * mends it. Changes nothing.
 * @throws {ConfigError}
 */
export async function doctor({ json = false }: { readonly json?: boolean }): Promise<void> {
  const started = performance.now();
  const config = readConfig();
  const repositoryOpener = new RepositoryOpener(config.catalogue);
  const end = new AbortController();
  const results = await runChecks(checks, { config, repositoryOpener, signal: end.signal }, secondsPerCheck);
  end.abort();
  repositoryOpener.close();
  process.stdout.write(
    json ? `${JSON.stringify({ ...readVersion(), checks: results }, null, 2)}\n` : printResults(results),
  );
  process.exitCode = toExitCode(results);
  // A check that was given up may still hold the process, such as one that reads a disk that hangs.
  if (performance.now() - started > secondsPerCheck * 1000) setTimeout(() => process.exit(), 1000).unref();
}

/** A minute is enough for the pages of 100,000 bots. */
const secondsPerCheck = 60;
