import { hash } from 'node:crypto';
import type { Router } from '@koa/router';
import { openApi } from './openapi.ts';
import { send } from '../representation.ts';

/** Adds the OpenAPI document. @param baseUrl the public address, without a slash at its end */
export function addOpenApiRoute(router: Router, baseUrl: string): void {
  const body = Buffer.from(JSON.stringify(openApi(baseUrl)));
  const representation = { type: 'application/json', digest: hash('sha1', body, 'base64url'), body };
  router.get('/api/openapi.json', async (ctx) => await send(ctx, { ...representation, current: () => true }));
}
