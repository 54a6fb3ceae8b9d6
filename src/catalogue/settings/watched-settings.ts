import { join } from 'node:path';
import { createDiskReader, parseSettings } from './read-settings.ts';
import { type CatalogueSettings, settingsName, toSettings } from './settings.ts';
import { WatchedFile, type WatchOptions } from './watched-file.ts';

/** Returns the settings that are in force, with the logo. @param root the folder that holds them, and `bots/` */
export function watchSettings(root: string, options: WatchOptions): WatchedFile<CatalogueSettings> {
  const readFile = createDiskReader(root);
  return new WatchedFile({
    ...options,
    path: join(root, settingsName),
    initial: toSettings(),
    read: async () => await readFile(settingsName),
    parse: async (reading) => {
      const { settings: value, faults, logoPath } = await parseSettings(reading, readFile);
      return { value, faults, beside: logoPath === null ? null : join(root, logoPath) };
    },
  });
}
