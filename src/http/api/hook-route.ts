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
    const body = sent && (await readBytes(ctx, maxBody, 'the next regular fetch finds the push'));
    const proof = sent && body ? findProof(ctx, sent, secret, body) : null;
    if (sent === undefined || body === undefined || proof === null) {
      refused.countClient(ctx, 'check the secret of the webhook at the Git server');
      throw new ProblemError('bad-signature', findReason(ctx, sent, secret), {
        headers: { 'WWW-Authenticate': 'Signature realm="hooks"' },
      });
    }
    const named = findRepository(body) ?? repository;
    if (repository && !`/${repository}`.toLowerCase().endsWith(`/${named}`.toLowerCase()))
      throw new ProblemError(
        'other-repository',
        `the event is of ${named}, the remote is ${repository}: remove that webhook, or correct BOTSHELF_REMOTE`,
      );
    if (!taken.has(proof)) pushed();
    if (proof !== 'secret') taken.set(proof, true);
    ctx.status = 202;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { ok: true };
  });
}

/** Bytes. The description of a push of thousands of files is smaller. */
const maxBody = 2 * 1024 * 1024;

/** Returns why a call is refused, and the fix. */
function findReason(ctx: Context, sent: Proof | undefined, secret: string): string {
  const fix = 'set the secret of the webhook at the Git server to that of BOTSHELF_WEBHOOK_SECRET';
  if (sent === undefined) return `the call is not signed: ${fix}`;
  const [header, kind] = sent;
  if (kind === 'secret') return `${header} is not the secret: ${fix}`;
  if (kind === 'body')
    return sha256Signature.test(ctx.get(header))
      ? `${header} is a signature of another body or with another secret: ${fix}`
      : `${header} is not a signature by HMAC with SHA-256 in 64 hexadecimal digits: ${fix}`;
  if (readKey(secret) === undefined)
    return 'BOTSHELF_WEBHOOK_SECRET is no signing token of GitLab, which begins with whsec_: set it to that of the webhook';
  return isRecent(ctx.get('webhook-timestamp'))
    ? `${header} is a signature of another call or with another token: ${fix}`
    : `webhook-timestamp is not within ${maxAgeSeconds / 60} minutes: check the clocks of both machines, or resend the call`;
}

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

/** Returns the signature of a genuine call, `secret` for a call with the secret itself, null for any other. */
function findProof(ctx: Context, [header, kind]: Proof, secret: string, body: Buffer): string | null {
  const sent = ctx.get(header);
  if (kind === 'secret') return timingSafeEqual(computeSha256(sent), computeSha256(secret)) ? 'secret' : null;
  if (kind === 'standard') return findStandardProof(ctx, sent, secret, body);
  const given = sha256Signature.exec(sent)?.[1];
  if (given === undefined) return null;
  const signature = createHmac('sha256', secret).update(body).digest();
  return timingSafeEqual(Buffer.from(given, 'hex'), signature) ? signature.toString('hex') : null;
}

const sha256Signature = /^(?:sha256=)?([0-9a-f]{64})$/i;

/**
 * Returns the signature of a genuine call by the Standard Webhooks specification, which GitLab uses; null for any other.
 * @param signatures `v1,<base64>`, several with spaces between them
 */
function findStandardProof(ctx: Context, signatures: string, secret: string, body: Buffer): string | null {
  const time = ctx.get('webhook-timestamp');
  const key = readKey(secret);
  if (key === undefined || !isRecent(time)) return null;
  const signature = createHmac('sha256', Buffer.from(key, 'base64'))
    .update(`${ctx.get('webhook-id')}.${time}.`)
    .update(body)
    .digest();
  const isGenuine = signatures
    .split(' ', maxSignatures)
    .some((given) =>
      timingSafeEqual(computeSha256(given), computeSha256(`v1,${signature.toString('base64')}`)),
    );
  return isGenuine ? signature.toString('hex') : null;
}

/** Returns the key of a signing token, in base64. */
function readKey(secret: string): string | undefined {
  return /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret)?.[1];
}

/** @param time seconds since the epoch */
function isRecent(time: string): boolean {
  return /^\d{1,12}$/.test(time) && Math.abs(Date.now() / 1000 - Number(time)) <= maxAgeSeconds;
}

/** The maximum difference in seconds between a call's time and this clock; covers both clocks and the transfer. */
const maxAgeSeconds = 300;

/** While a key is replaced, a call has two signatures. */
const maxSignatures = 10;

function computeSha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
