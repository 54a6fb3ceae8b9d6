/** Settings of every git command of the service: none runs code of the repository, and what is written is on disk. */
export const gitSettings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.fsync=objects,derived-metadata,reference,index',
  'core.fsyncMethod=fsync',
  'core.filesRefLockTimeout=1000',
  'core.packedRefsTimeout=1000',
  'commit.gpgSign=false',
  'gc.auto=0',
  'fetch.recurseSubmodules=false',
];

/**
 * An option of what compares trees or the work tree: Git then does not read the file `.gitmodules`, which ends it where
 * somebody has written a program there.
 */
export const withoutModulesFile = '--ignore-submodules=none';

/** Seconds after which a command on the network that makes no progress has stalled. */
export const maxStallSeconds = 60;

/** Less than a byte a second is no progress. */
export const networkSettings: readonly string[] = [
  'http.lowSpeedLimit=1',
  `http.lowSpeedTime=${maxStallSeconds}`,
];

/** Makes git read large objects in pieces, as one may not fit into memory. */
export const largeInPieces: readonly string[] = ['-c', 'core.bigFileThreshold=1m'];

/**
 * Returns the environment of every git command: this process's, without what would point git at another repository or
 * run a program (a service started from a Git hook has GIT_DIR set). Git then prompts for no password, and takes no
 * optional locks.
 */
export function createGitEnvironment(indexFile?: string): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- handed on as it is; no setting is read from it
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(GIT_|EDITOR$|VISUAL$|PAGER$|PREFIX$|SSH_ASKPASS$)/i.test(name),
  );
  const index = indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile };
  return { ...Object.fromEntries(own), ...gitVariables, ...index, LC_ALL: 'C' };
}

const gitVariables = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
