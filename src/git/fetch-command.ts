/**
 * Returns the start of a `git fetch` that fetches what it names and nothing else: no tags, no submodules, no maintenance, no
 * FETCH_HEAD, and no remote-tracking branch, whose lock a killed push may have left. The remote and what to fetch follow.
 * @param setting of Git for this command, such as `fetch.fsckObjects=true`
 */
export function fetchCommand(setting: string): readonly string[] {
  return [
    '-c',
    setting,
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--refmap=',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
  ];
}
