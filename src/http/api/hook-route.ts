import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { gitHosts, readKeys, type WebhookProof } from '../../git/hosts.ts';
import { ProblemError } from '../problem.ts';
import type { RateLimit } from '../limits.ts';
import { readBytes } from '../request.ts';

export interface HookRouteOptions {
  /** The secret that the Git server signs its calls with, or sends. */
  readonly secret: string;
  /** The path of the repository; undefined if it is not known. */
  readonly repository: string | undefined;
  /** Called for every genuine call. */
  readonly pushed: () => void;
  /** Counts refused calls by address. A genuine call passes, whatever its address has sent before. */
  readonly refused: RateLimit;
}

/**
 * `POST /hooks/push`: the Git server reports a push, or an event of a pull request. GitHub, Bitbucket, Gitea, Forgejo
 * and Gogs sign the body; GitLab signs ID, time and body, or sends the secret itself. Every genuine call starts a
 * fetch, unless its body names another repository. A repetition of a signed call is accepted and starts none: GitHub's
 * “Redeliver” sends the same signature. A call with the secret itself can be repeated, but only by a client that has
 * the secret.
 */
export function addHookRoute(router: Router, options: HookRouteOptions): void {
  const { secret, repository, pushed, refused } = options;
  const taken = new LRUCache<string, true>({ max: 10_000 });
  router.post('/hooks/push', async (ctx) => {
    const sent = proofs.find(([header]) => ctx.get(header) !== '');
    const body = sent ? await readBytes(ctx, maxBody, 'the next regular fetch finds the push') : Buffer.of();
    const check: ProofCheck = sent
      ? checkProof(ctx, sent, secret, body)
      : { reason: `the call is not signed: ${fix}` };
    if ('reason' in check) {
      refused.countClient(ctx, 'check the secret of the webhook at the Git server');
      throw new ProblemError('bad-signature', check.reason, {
        headers: { 'WWW-Authenticate': 'Signature realm="hooks"' },
      });
    }
    const named = findRepository(body) ?? repository;
    if (repository && !`/${repository}`.toLowerCase().endsWith(`/${named}`.toLowerCase()))
      throw new ProblemError(
        'other-repository',
        `the event is of ${named}, the remote is ${repository}: remove that webhook, or correct BOTSHELF_REMOTE`,
      );
    if (!taken.has(check.proof)) pushed();
    if (check.proof !== 'secret') taken.set(check.proof, true);
    ctx.status = 202;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { ok: true };
  });
}

/** Bytes. The description of a push of thousands of files is smaller. */
const maxBody = 2 * 1024 * 1024;

const hooks = Object.values(gitHosts).map(({ hook }) => hook);

/** The proof that a call is genuine, by header. A call without any of them is refused before its body is read. */
const proofs: readonly Proof[] = [
  ...hooks.flatMap(({ proofs }) => Object.entries(proofs)),
  // The header of Bitbucket. GitHub sends it as well, with SHA-1.
  ['X-Hub-Signature', 'body'],
];

type Proof = readonly [header: string, kind: WebhookProof];

/** Returns the path of the repository that the body of a call names; undefined without one. */
function findRepository(body: Buffer): string | undefined {
  try {
    const event: unknown = JSON.parse(body.toString());
    return hooks
      .map((hook) => readKeys(event, hook.repository))
      .find((named): named is string => typeof named === 'string');
  } catch {
    return undefined;
  }
}

/** The signature of a genuine call, `secret` for a call with the secret itself; or why a call is refused, and the fix. */
type ProofCheck = { readonly proof: string } | { readonly reason: string };

/**
 * Checks the proof of a call. A `standard` one is that of the Standard Webhooks specification, which GitLab uses: a header
 * with `v1,<base64>`, several with spaces between them.
 */
function checkProof(ctx: Context, [header, kind]: Proof, secret: string, body: Buffer): ProofCheck {
  const sent = ctx.get(header);
  if (kind === 'secret')
    return isSame(sent, secret) ? { proof: 'secret' } : { reason: `${header} is not the secret: ${fix}` };
  if (kind === 'body') {
    const given = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(sent)?.[1];
    if (given === undefined)
      return { reason: `${header} is not a signature by HMAC with SHA-256 in 64 hexadecimal digits: ${fix}` };
    const proof = createHmac('sha256', secret).update(body).digest('hex');
    return isSame(given.toLowerCase(), proof)
      ? { proof }
      : { reason: `${header} is a signature of another body or with another secret: ${fix}` };
  }
  const key = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret)?.[1];
  if (key === undefined)
    return {
      reason:
        'BOTSHELF_WEBHOOK_SECRET is no signing token of GitLab, which begins with whsec_: set it to that of the webhook',
    };
  const time = ctx.get('webhook-timestamp');
  if (!isRecent(time))
    return {
      reason: `webhook-timestamp is not within ${maxAgeSeconds / 60} minutes: check the clocks of both machines, or resend the call`,
    };
  const proof = createHmac('sha256', Buffer.from(key, 'base64'))
    .update(`${ctx.get('webhook-id')}.${time}.`)
    .update(body)
    .digest('base64');
  return sent.split(' ', maxSignatures).some((given) => isSame(given, `v1,${proof}`))
    ? { proof }
    : { reason: `${header} is a signature of another call or with another token: ${fix}` };
}

const fix = 'set the secret of the webhook at the Git server to that of BOTSHELF_WEBHOOK_SECRET';

/** Compares secrets in constant time, by digests, because `timingSafeEqual` takes texts of one length only. */
function isSame(sent: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', expected, 'buffer'));
}

/** @param time seconds since the epoch */
function isRecent(time: string): boolean {
  return /^\d{1,12}$/.test(time) && Math.abs(Date.now() / 1000 - Number(time)) <= maxAgeSeconds;
}

/** The maximum difference in seconds between a call's time and this clock; covers both clocks and the transfer. */
const maxAgeSeconds = 300;

/** While a key is replaced, a call has two signatures. */
const maxSignatures = 10;
