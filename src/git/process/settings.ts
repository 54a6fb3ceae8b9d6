/** Settings of every git command of ours: no code of the repository's runs, and what is written is on disk. */
export const gitSettings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.fsync=objects,derived-metadata,reference',
  'core.fsyncMethod=fsync',
  'core.filesRefLockTimeout=1000',
  'core.packedRefsTimeout=1000',
  'commit.gpgSign=false',
  'gc.auto=0',
];

/** A transfer of less than 1,000 bytes a second for 20 seconds has stalled. */
export const networkSettings: readonly string[] = ['http.lowSpeedLimit=1000', 'http.lowSpeedTime=20'];

/** Has git read a large object in pieces, as it may not be wanted or not fit into memory. */
export const largeInPieces: readonly string[] = ['-c', 'core.bigFileThreshold=1m'];

/**
 * The environment of every git command of ours: this process's, without what would point git at another repository
 * or run a program (a service started from a Git hook has GIT_DIR set). It asks nobody for a password, and takes no
 * lock only to save time.
 */
export function gitEnvironment(indexFile?: string): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- handed on as it is; no setting is read from it
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(GIT_|EDITOR$|VISUAL$|PAGER$|PREFIX$|SSH_ASKPASS$)/i.test(name),
  );
  const index = indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile };
  return { ...Object.fromEntries(own), ...gitVariables, ...index, LC_ALL: 'C' };
}

const gitVariables = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
