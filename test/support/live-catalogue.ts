import { Catalogue, type CatalogueOptions } from '../../src/catalogue/catalogue.ts';
import { silentLog } from '../../src/lib/log.ts';
import { cleanUp } from './cleanup.ts';
import { eventually } from './eventually.ts';
import { botId } from './sample.ts';
import { tempFolder, writeFiles } from './temp-folder.ts';

/** A catalogue in a temp folder, watched, and a short word for what it serves. */
export interface LiveCatalogue {
  readonly root: string;
  readonly catalogue: Catalogue;
  /** Puts files into the catalogue, path → text. */
  readonly write: (files: Readonly<Record<string, string | Buffer>>) => void;
  /** The name that a bot is served with, undefined when it is not served. */
  readonly name: (id: string) => string | undefined;
  /** `path rule` of each fault. */
  readonly faults: () => string[];
}

/**
 * Opens a catalogue of these files. Its slow round is out of reach, so that whatever changes is found by
 * hints, unless `roundSeconds` says otherwise. It closes when the test is over.
 */
export async function openCatalogue(
  files: Readonly<Record<string, string | Buffer>>,
  options: Partial<CatalogueOptions> = {},
): Promise<LiveCatalogue> {
  const root = options.root ?? tempFolder();
  writeFiles(root, files);
  const catalogue = new Catalogue({ root, log: silentLog, snapshot: null, roundSeconds: 36_000, ...options });
  cleanUp(async () => await catalogue.close());
  await catalogue.load();
  await eventually(() => catalogue.bots.watcherFault === null);
  return {
    root,
    catalogue,
    write: (files) => writeFiles(root, files),
    name: (id) => catalogue.store.bots.get(botId(id))?.facts.name,
    faults: () => catalogue.store.faults().map(({ path, rule }) => `${path} ${rule}`),
  };
}
