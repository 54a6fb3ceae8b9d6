import { clearedLock } from '../../support/service-log.ts';
import type { Explanation } from './models.ts';

const ofRemote = ['remote-cut', 'remote-slow', 'remote-half', 'remote-refuses', 'remote-hangs'];
const ofDisk = ['disk-full', 'calls-fail'];

/** The actions of people with Git, or on proposals. */
const ofPeople = ['pull', 'add-or-remove', 'rewrite', 'edit-clone', 'commit', 'command', 'accepted'];

/** The warnings and errors of a machine, and what explains them; those that are spared in each minute of the plan. */
export const explanations: readonly Explanation[] = [
  { pattern: /"msg":"set aside /, by: ofPeople },
  { pattern: /the remote's branch was rewritten: replayed/, by: ['rewrite'] },
  { pattern: /the remote has lost commits|the remote has lost counts and tokens/, by: ['host-back'] },
  { pattern: /is behind the branch: it has uncommitted edits/, by: ['edit-clone'] },
  // A person's editor is held up between emptying a file and writing it.
  { pattern: /"rule":"opener"/, by: [], spare: 1 },
  {
    pattern: /git made no progress|git was killed|it takes more than/,
    by: [...ofRemote, ...ofDisk, 'freeze'],
    spare: 10,
  },
  { pattern: /Operation too slow/, by: [...ofRemote, 'freeze'] },
  { pattern: /"login":"unavailable"/, by: ['freeze', ...ofDisk], spare: 5 },
  {
    pattern: /requests are refused: this token is unknown here/,
    by: [...ofRemote, ...ofDisk, 'freeze'],
    spare: 10,
  },
  { pattern: clearedLock, by: ['kill', 'kill-answered', ...ofDisk] },
  {
    pattern:
      /not in step with the remote: |could not push the last commits|Git maintenance failed: git [^"]* push |not shared with the other machines: |was changed on this machine, and the remote/,
    by: [...ofRemote, ...ofDisk],
  },
  {
    pattern:
      /the disk is full|write error|(?:unable to|could not|couldn't|cannot|failed to) (?:write|create|append|open|update|lock|rename|sync)|ENOSPC|No space left|ENOENT: no such file or directory, mkdir/i,
    by: ofDisk,
  },
  {
    pattern:
      /not a git repository|refs.* cannot be read: try again|EIO|EACCES|EMFILE|Input\/output error|Permission denied|may not read the file|Too many open files/,
    by: ['calls-fail'],
  },
  // The request waited for a slow remote for longer than a stop waits for requests.
  {
    pattern: /requests are refused: the service is stopping|"because":"the service is stopping"/,
    by: ['stop', 'clock'],
  },
  { pattern: /a login failed/, by: ['clock'] },
];
