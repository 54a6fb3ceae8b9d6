import type { Router } from '@koa/router';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { basePathOf } from '../../lib/base-url.ts';
import { createDocument, send } from '../representation.ts';
import { paths } from './openapi-paths.ts';
import { createComponents, createReference } from './openapi-schemas.ts';

/**
 * Adds the OpenAPI document, and redirects to it and to the page about the API from where people look for them.
 * @param baseUrl the public address, without a slash at its end
 * @param settings returns those in force
 */
export function addOpenApiRoute(router: Router, baseUrl: string, settings: () => CatalogueSettings): void {
  router.get('/api/openapi.json', async (ctx) => {
    const inForce = settings();
    const body = Buffer.from(JSON.stringify(openApi(baseUrl, inForce)));
    const current = (): boolean => settings() === inForce;
    await send(ctx, { ...createDocument('application/json', body), current });
  });
  const basePath = basePathOf(baseUrl);
  router.get(['/api', '/api/v2', '/openapi.json'], (ctx) => {
    ctx.set('Link', `<${basePath}/api/openapi.json>; rel="service-desc"`);
    ctx.redirect(basePath + (ctx.path.endsWith('.json') ? '/api/openapi.json' : '/docs'));
  });
}

/** Returns the OpenAPI 3.1 document of the API, with the schemas that the service itself validates with. */
export function openApi(
  baseUrl: string,
  { name, categories }: Pick<CatalogueSettings, 'name' | 'categories'>,
): object {
  return {
    openapi: '3.1.0',
    info: {
      title: name,
      version: '2',
      description:
        'A list of bots. Reads need no key, are allowed from any site, and have ETags. An owner posts with the token of the bot.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [],
    paths,
    components: {
      schemas: createComponents(paths, categories),
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The token of the bot, alone or after “Bearer ”.',
        },
      },
      responses: {
        Problem: {
          description: 'What is wrong, and what to do about it.',
          content: { 'application/problem+json': { schema: createReference('Problem') } },
        },
        NotModified: { description: 'The ETag in If-None-Match is still current.' },
      },
    },
  };
}
