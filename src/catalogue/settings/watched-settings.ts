import { join } from 'node:path';
import { createDiskReader, parseSettings, readSettings } from './read-settings.ts';
import { type CatalogueSettings, settingsName, toSettings } from './settings.ts';
import { WatchedFile, type WatchedFileOptions } from './watched-file.ts';

export interface WatchedSettingsOptions extends Pick<
  WatchedFileOptions<CatalogueSettings>,
  'copy' | 'log' | 'onFaults' | 'onChange'
> {
  /** The folder that holds the settings, and `bots/`. */
  readonly root: string;
}

/** The settings that are in force, with the logo. */
export class WatchedSettings extends WatchedFile<CatalogueSettings> {
  constructor({ root, ...options }: WatchedSettingsOptions) {
    const readFile = createDiskReader(root);
    super({
      ...options,
      path: join(root, settingsName),
      initial: toSettings(),
      read: async () => {
        const { text, settings: value, faults, logoPath } = await readSettings(readFile);
        return { text, value, faults, beside: logoPath === null ? null : join(root, logoPath) };
      },
      parse: async (bytes) => (await parseSettings(bytes, readFile)).settings,
    });
  }
}
