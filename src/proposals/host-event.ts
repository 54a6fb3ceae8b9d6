/** What somebody did with a pull request. */
export interface HostEvent {
  readonly kind: 'merged' | 'closed' | 'commented' | 'other';
  /** The pull request. */
  readonly number: number | null;
  /** The account of the host that did it. */
  readonly by: number | null;
  /** The comment. */
  readonly text: string;
  /** The commit of the branch that has it, where it was merged. */
  readonly commit: string | null;
}

/**
 * Returns what the body of a call of the webhook says. GitLab's are in
 * https://docs.gitlab.com/user/project/integrations/webhook_events/. Forgejo and Gitea send what GitHub does:
 * https://docs.github.com/webhooks/webhook-events-and-payloads.
 */
export function readHostEvent(body: Buffer): HostEvent {
  const event = parse(body.toString());
  const attributes = event.object_attributes;
  const kindOfGitLab = event.object_kind;
  const other = kindOfGitLab === undefined ? event.issue : undefined;
  const pull =
    event.pull_request ?? event.merge_request ?? (kindOfGitLab === 'merge_request' ? attributes : other);
  const action = event.action ?? attributes?.action;
  const isMerged = action === 'merge' || (action === 'closed' && pull?.merged === true);
  const isClosed = action === 'close' || action === 'closed';
  const text = event.comment?.body ?? attributes?.note ?? '';
  const kind = isMerged ? 'merged' : isClosed ? 'closed' : text === '' ? 'other' : 'commented';
  const number = pull?.number ?? pull?.iid ?? null;
  return {
    kind,
    number,
    by: (event.sender ?? event.user)?.id ?? null,
    text,
    commit: pull?.merge_commit_sha ?? null,
  };
}

/** The keys that are read. */
interface Payload {
  /** At GitLab only. */
  readonly object_kind?: string;
  readonly action?: string;
  readonly pull_request?: PullPayload;
  readonly issue?: PullPayload;
  readonly comment?: { readonly body?: string };
  readonly sender?: { readonly id?: number };
  readonly user?: { readonly id?: number };
  readonly merge_request?: PullPayload;
  readonly object_attributes?: PullPayload & { readonly action?: string; readonly note?: string };
}

interface PullPayload {
  readonly number?: number;
  readonly iid?: number;
  readonly merged?: boolean;
  readonly merge_commit_sha?: string | null;
}

function parse(text: string): Payload {
  try {
    return (JSON.parse(text) as Payload | null) ?? {};
  } catch {
    return {};
  }
}
