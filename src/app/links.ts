import { join } from 'node:path';
import { parseListElement } from '../catalogue/store/bot-index.ts';
import type { Catalogue } from '../catalogue/store/catalogue.ts';
import { LinkCheck } from '../images/link-check.ts';
import type { Log } from '../lib/log.ts';
import type { Config } from './config.ts';

/** Opens the check of the links that the bots name, with a connector to the public internet. */
export async function openLinks(
  { baseUrl, var: folder }: Pick<Config, 'baseUrl' | 'var'>,
  { store }: Pick<Catalogue, 'store'>,
  log: Log,
): Promise<LinkCheck> {
  // Imported here only: its HTTP client takes a sixth of a start.
  const { ImageConnector } = await import('../images/connector.ts');
  const listLinks = function* (): Generator<string> {
    for (const bot of store.bots.all()) {
      const { website, support, invite } = parseListElement(bot);
      yield* [website, support, invite].filter((url) => url !== null);
    }
  };
  const connector = new ImageConnector({ site: baseUrl });
  return new LinkCheck({ path: join(folder, 'links.json'), connector, listLinks, log });
}
