import { clearedLock } from '../../support/service-log.ts';
import type { Explanation } from './models.ts';

const ofRemote = ['remote-cut', 'remote-slow', 'remote-half', 'remote-refuses', 'remote-hangs'];
const ofDisk = ['disk-full', 'calls-fail'];

/** The warnings and errors that trouble at a machine explains; none is needed for the first ones. */
export const explanations: readonly Explanation[] = [
  { pattern: /"msg":"set aside /, by: [] },
  { pattern: /the remote's branch was rewritten: replayed/, by: [] },
  // A person's edit that is not committed yet.
  { pattern: /is behind the branch: it has uncommitted edits/, by: [] },
  // On a busy machine.
  { pattern: /it did not respond in time/, by: [] },
  { pattern: /"login":"unavailable"|Operation too slow/, by: [] },
  { pattern: clearedLock, by: ['kill', 'kill-answered', ...ofDisk] },
  { pattern: /not in step with the remote: |could not push the last commits/, by: [...ofRemote, ...ofDisk] },
  { pattern: /proposals are not shared with the other machines: /, by: [...ofRemote, ...ofDisk] },
  { pattern: /was changed on this machine only, as the remote cannot be reached/, by: ofRemote },
  {
    pattern:
      /the disk is full|(?:unable to|could not|couldn't|cannot|failed to) (?:write|create|append|open|update|lock|rename|sync)|ENOSPC|No space left|ENOENT: no such file or directory, mkdir/i,
    by: ofDisk,
  },
  {
    pattern:
      /not a git repository|refs.* cannot be read: try again|EIO|EACCES|EMFILE|Input\/output error|Permission denied|Too many open files/,
    by: ['calls-fail'],
  },
  { pattern: /a login failed/, by: ['clock'] },
];
