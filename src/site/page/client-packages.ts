import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Router } from '@koa/router';
import { createDocument, send } from '../../http/representation.ts';

const folder = fileURLToPath(import.meta.resolve('#packages'));
const names = readdirSync(folder);

function addressOf(extension: string, baseUrl: string): string {
  return `${baseUrl}/clients/${names.find((name) => name.endsWith(extension))}`;
}

/**
 * Returns what npm and pip install to get the clients. These are addresses on this service, because the registries do not
 * have the clients yet and anybody could take their names there. Once they have them: `@botshelf/client` and `botshelf`.
 */
export const clientPackages = {
  npm: (baseUrl: string): string => addressOf('.tgz', baseUrl),
  pip: (baseUrl: string): string => addressOf('.whl', baseUrl),
};

/** Serves the packages of the clients. */
export function addClientRoutes(router: Router): void {
  for (const name of names) {
    const type = name.endsWith('.tgz') ? 'application/gzip' : 'application/zip';
    const content = createDocument(type, readFileSync(`${folder}/${name}`));
    router.get(`/clients/${name}`, async (ctx) => await send(ctx, { ...content, current: () => true }));
  }
}
