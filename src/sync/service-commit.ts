/** What `git log` has to print of a commit, in three lines, for `parseUpdatedBots`. */
export const serviceFormat = '%an <%ae> %at%n%cn <%ce> %ct%n%(trailers:key=Bot,valueonly,separator=%x2C)';

/**
 * The bots that a commit of a service names in its trailers; none for a commit of a person. A service writes its
 * commits with one identity and one time: a commit that a person has amended, picked or rebased has two, and is that
 * person's.
 */
export function parseUpdatedBots([author, committer, trailers = '']: readonly string[]): readonly string[] {
  return author === committer && trailers !== '' ? trailers.split(',') : [];
}
