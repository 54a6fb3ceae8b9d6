import { GitError, noGit } from '../git/process/git-error.ts';

/** Returns what `work` does. @throws {Error} whose message is one sentence for the operator */
export async function withRemoteMessage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(describeRemoteError(error), { cause: error });
  }
}

/**
 * Returns why the remote could not be used, as a sentence for the operator, in the remote's own words if it sent any.
 */
export function describeRemoteError(error: unknown): string {
  if (!(error instanceof GitError)) return error instanceof Error ? error.message : String(error);
  if (error.notStarted) return noGit;
  if (error.status === null)
    return `${error.stderr.trim() || 'git was killed'}: look at the load of this machine, the network and the Git server`;
  const lines = error.stderr.split('\n').map((line) => line.replace(/\p{Cc}/gu, ' ').trim());
  const rejected = lines.flatMap((line) => findRejection(line) ?? []);
  const first = lines.findIndex((line) => /^(fatal|error):/.test(line));
  // A line that ends in a colon continues in the next one.
  const said =
    rejected.length > 0
      ? [rejected.join(', ')]
      : lines.slice(first, first + (lines[first]?.endsWith(':') ? 2 : 1));
  const remote = lines.flatMap((line) => /^(?:remote:|ERROR:)\s*(.*\p{L}.*)$/u.exec(line)?.[1] ?? []);
  const quoted = remote.length > 0 ? `the remote says: ${remote.join(' ').slice(0, 500)}; ` : '';
  return `${quoted}git says: ${said.join(' ').slice(0, 300)}`;
}

/**
 * Returns the ref and the reason of a rejection; undefined for a ref that was rejected only because another one was.
 */
function findRejection(line: string): string | undefined {
  const [, ref, reason] = /^! \[(?:remote )?rejected\] +\S+ -> (\S+) \((.+)\)$/.exec(line) ?? [];
  return ref === undefined || reason === 'atomic push failed' || reason === 'atomic push failure'
    ? undefined
    : `${ref} is refused (${reason})`;
}
