import { readConfig } from '../app/config.ts';
import { readVersion } from '../app/version.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { formatJson } from './check-report.ts';
import * as machine from './doctor-machine.ts';
import * as network from './doctor-network.ts';
import { type DoctorCheck, printResults, runChecks, toExitCode } from './doctor-results.ts';

/** Every check, in the order in which they are printed. */
const checks: Readonly<Record<string, DoctorCheck>> = {
  settings: machine.checkSettings,
  git: machine.checkGit,
  clone: machine.checkClone,
  'stale locks': machine.checkLocks,
  'file system': machine.checkFileSystem,
  'disk space': machine.checkSpace,
  inotify: machine.checkWatches,
  'open files': machine.checkOpenFiles,
  remote: network.checkRemote,
  push: network.checkPush,
  clock: network.checkClock,
  service: network.checkService,
  proxy: network.checkProxy,
  'base address': network.checkBaseAddress,
  journal: machine.checkJournal,
  state: machine.checkState,
  files: machine.checkFiles,
  pictures: machine.checkImages,
  login: network.checkLogin,
};

/**
 * Looks at all that a service with these settings depends on, also while it runs, and prints what is wrong with what
 * fixes it. Changes nothing.
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
    json ? `${formatJson({ ...readVersion(), checks: results })}\n` : printResults(results),
  );
  process.exitCode = Math.max(...results.map(toExitCode));
  // A check that was given up may still hold the process, such as one that reads a disk that hangs.
  if (performance.now() - started > secondsPerCheck * 1000) setTimeout(() => process.exit(), 1000).unref();
}

/** A minute is enough for the pages of 100,000 bots. */
const secondsPerCheck = 60;
