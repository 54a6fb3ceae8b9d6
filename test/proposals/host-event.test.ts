import { deepStrictEqual } from 'node:assert/strict';
import { type HostEvent, readHostEvent } from '../../src/proposals/host-event.ts';

const commit = 'a'.repeat(40);
const nothing: HostEvent = { number: undefined, by: undefined, text: '', outcome: null };

describe('an event of a Git host', () => {
  for (const [name, body, expected] of [
    [
      'a pull request of GitHub that was merged',
      {
        action: 'closed',
        pull_request: { number: 7, merged: true, merge_commit_sha: commit },
        sender: { id: 1 },
      },
      { number: 7, by: 1, outcome: { state: 'accepted', commit } },
    ],
    [
      'one that was closed, whose commit is of no use',
      {
        action: 'closed',
        pull_request: { number: 7, merged: false, merge_commit_sha: commit },
        sender: { id: 1 },
      },
      { number: 7, by: 1, outcome: { state: 'declined', commit: null } },
    ],
    [
      'one that was opened, also where it says that it is merged',
      { action: 'opened', pull_request: { number: 7, merged: true } },
      { number: 7 },
    ],
    [
      'a comment on one',
      { action: 'created', issue: { number: 7 }, comment: { body: 'Why?' }, sender: { id: 1 } },
      { number: 7, by: 1, text: 'Why?' },
    ],
    [
      'a merge request of GitLab that was merged',
      {
        object_kind: 'merge_request',
        user: { id: 2 },
        object_attributes: { iid: 8, number: 9, action: 'merge', merge_commit_sha: commit },
      },
      { number: 8, by: 2, outcome: { state: 'accepted', commit } },
    ],
    [
      'one that was merged without a commit of its own',
      {
        object_kind: 'merge_request',
        object_attributes: { iid: 8, action: 'merge', merge_commit_sha: null },
      },
      { number: 8, outcome: { state: 'accepted', commit: null } },
    ],
    [
      'one that was closed',
      { object_kind: 'merge_request', object_attributes: { iid: 8, action: 'close', merged: true } },
      { number: 8, outcome: { state: 'declined', commit: null } },
    ],
    [
      'a comment on one',
      {
        object_kind: 'note',
        user: { id: 2 },
        merge_request: { iid: 8 },
        object_attributes: { iid: 3, note: 'Why?' },
      },
      { number: 8, by: 2, text: 'Why?' },
    ],
    ['a comment that is no text', { comment: { body: 7 } }, {}],
    ['nothing', null, {}],
    ['a text', 'closed', {}],
  ] as const)
    it(`is read: ${name}`, () => {
      deepStrictEqual(readHostEvent(Buffer.from(JSON.stringify(body))), { ...nothing, ...expected });
    });

  it('that is no JSON says nothing', () => {
    deepStrictEqual(readHostEvent(Buffer.from('{')), nothing);
    deepStrictEqual(readHostEvent(Buffer.from('')), nothing);
  });
});
