import type { HostDecision } from './proposals.ts';

/** What somebody did with a pull request. */
export interface HostEvent {
  /** The pull request. */
  readonly number: unknown;
  /** The account of the host that did it. */
  readonly by: unknown;
  /** The comment; empty where there is none. */
  readonly text: string;
  /** What was decided by merging or closing it. */
  readonly outcome: Pick<HostDecision, 'state' | 'commit'> | null;
}

/**
 * Returns what the body of a call of the webhook says. GitLab's are in
 * https://docs.gitlab.com/user/project/integrations/webhook_events/. Forgejo and Gitea send what GitHub does:
 * https://docs.github.com/webhooks/webhook-events-and-payloads.
 */
export function readHostEvent(body: Buffer): HostEvent {
  const event = parse(body.toString());
  const read = (...path: readonly string[]): unknown =>
    path.reduce((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], event);
  const isOfMerge = read('object_kind') === 'merge_request';
  const pull = isOfMerge ? 'object_attributes' : 'pull_request';
  const action = read('action') ?? read('object_attributes', 'action');
  const isMerged = action === 'merge' || (action === 'closed' && read(pull, 'merged') === true);
  const isEnded = isMerged || action === 'close' || action === 'closed';
  const number =
    read(pull, isOfMerge ? 'iid' : 'number') ?? read('issue', 'number') ?? read('merge_request', 'iid');
  const commit = isMerged ? read(pull, 'merge_commit_sha') : null;
  const text = read('comment', 'body') ?? read('object_attributes', 'note');
  return {
    number,
    by: read('sender', 'id') ?? read('user', 'id'),
    text: typeof text === 'string' ? text : '',
    outcome: isEnded
      ? { state: isMerged ? 'accepted' : 'declined', commit: typeof commit === 'string' ? commit : null }
      : null,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
