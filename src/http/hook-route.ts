import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import getRawBody from 'raw-body';
import { addressGroup } from '../network-address.ts';
import { Problem } from './problem.ts';
import type { RateLimit } from './rate-limits.ts';

export interface HookRouteOptions {
  /** What the Git server signs its calls with, or sends along. */
  readonly secret: string;
  /** Told of every call that is genuine. */
  readonly pushed: () => void;
  /** Refused calls by address. */
  readonly refused: RateLimit;
}

/**
 * `POST /hooks/push`: the Git server says that somebody has pushed. GitHub, Gitea and Forgejo sign the body, GitLab
 * sends the secret itself. What the body says is not looked at: the answer to a call is to fetch.
 */
export function addHookRoute(router: Router, { secret, pushed, refused }: HookRouteOptions): void {
  const taken = new LRUCache<string, true>({ max: 10_000 });
  router.post('/hooks/push', async (ctx) => {
    const body = await getRawBody(ctx.req, {
      limit: maxBody,
      length: ctx.get('Content-Length') || null,
    }).catch((error: unknown) => {
      throw bodyProblem(error);
    });
    const digest = createHash('sha256').update(ctx.get('X-Gitlab-Event-UUID')).update(body).digest('base64');
    if (!isGenuine(ctx, secret, body) || taken.has(digest)) {
      await refused.count(ctx, addressGroup(ctx.ip), 'look at the secret that the Git server has');
      throw new Problem('bad-signature', advice, {
        headers: { 'WWW-Authenticate': 'Signature realm="hooks"' },
      });
    }
    taken.set(digest, true);
    pushed();
    ctx.status = 202;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { ok: true };
  });
}

/** A push of thousands of files is described in less. Bytes. */
const maxBody = 2 * 1024 * 1024;

const advice =
  'the call is not signed with the secret, or was sent before: give the Git server the secret that BOTSHELF_WEBHOOK_SECRET has';

function isGenuine(ctx: Context, secret: string, body: Buffer): boolean {
  const token = ctx.get('X-Gitlab-Token');
  if (token !== '') return same(sha256(token), sha256(secret));
  const given =
    ctx.get('X-Hub-Signature-256').replace(/^sha256=/, '') ||
    ctx.get('X-Forgejo-Signature') ||
    ctx.get('X-Gitea-Signature');
  if (!/^[0-9a-f]{64}$/i.test(given)) return false;
  return same(Buffer.from(given, 'hex'), createHmac('sha256', secret).update(body).digest());
}

/** In a time that tells nothing about where they differ. */
function same(a: Buffer, b: Buffer): boolean {
  return timingSafeEqual(a, b);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function bodyProblem(error: unknown): unknown {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') {
    return new Problem(
      'too-large',
      `the body is larger than ${maxBody} bytes: the next fetch finds the push`,
      {
        headers: { Connection: 'close' },
      },
    );
  }
  return typeof type === 'string'
    ? new Problem('bad-request', 'the body ended before it should: send it again')
    : error;
}
