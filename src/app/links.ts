import { join } from 'node:path';
import { parseListElement } from '../catalogue/store/bot-index.ts';
import type { Catalogue } from '../catalogue/store/catalogue.ts';
import { LinkCheck } from '../images/link-check.ts';
import type { Log } from '../lib/log.ts';
import type { Config } from './config.ts';

/** Returns the path of the file of the link check. */
export function linksPathOf({ var: folder }: Pick<Config, 'var'>): string {
  return join(folder, 'links.json');
}

/** Opens the check of the links that the bots name, with a connector to the public internet. */
export async function openLinks(
  config: Config,
  { store }: Pick<Catalogue, 'store'>,
  log: Log,
): Promise<LinkCheck> {
  // Imported here only: its HTTP client takes a sixth of a start.
  const { ImageConnector } = await import('../images/connector.ts');
  const connector = new ImageConnector({ site: config.baseUrl });
  const listLinks = function* (): Generator<string | null> {
    for (const bot of store.bots.all()) {
      const { website, support, invite } = parseListElement(bot);
      yield* [website, support, invite];
    }
  };
  return new LinkCheck({ path: linksPathOf(config), connector, listLinks, log });
}
