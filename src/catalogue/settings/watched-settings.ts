import { lstatSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { SerialQueue } from '../../lib/serial-queue.ts';
import { writeAtomically } from '../../lib/atomic-write.ts';
import type { Log } from '../../lib/log.ts';
import type { Fault } from '../page/fault.ts';
import {
  createDiskReader,
  type FileReader,
  parseSettings,
  readSettings,
  type SettingsReading,
} from './read-settings.ts';
import { type CatalogueSettings, settingsName, toSettings } from './settings.ts';

export interface WatchedSettingsOptions {
  /** The folder that holds the settings, and `bots/`. */
  readonly root: string;
  /** The file that keeps the last valid version between runs; null for none. */
  readonly copy: string | null;
  readonly log: Log;
  /** Called with all faults of the settings whenever they were read. */
  onFaults(faults: readonly Fault[]): void;
  /** Called when other settings than those of the first read are in force. */
  onChange(): void;
}

/**
 * The settings that are in force: the last valid version of the file. Twice a second the stats of the file and of the logo
 * are compared with those of the last read.
 */
export class WatchedSettings {
  readonly #options: WatchedSettingsOptions;
  readonly #readFile: FileReader;
  readonly #reads = new SerialQueue();
  #current = toSettings();
  #logoPath: string | null = null;
  /** The stats of the files that were read last, and of those that were seen last. */
  #read: string | undefined;
  #seen: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WatchedSettingsOptions) {
    this.#options = options;
    this.#readFile = createDiskReader(options.root);
  }

  get current(): CatalogueSettings {
    return this.#current;
  }

  /**
   * Reads the settings for the first time, and starts to watch. A faulty file is replaced by the copy of the last valid
   * one.
   */
  async load(): Promise<void> {
    const { settings = toSettings(), faults } = await this.#reads.run(async () => await this.#update());
    if (faults.length > 0) this.#current = (await this.#readCopy()) ?? settings;
    this.#timer = setInterval(() => this.#poll(), pollIntervalMs).unref();
  }

  /** Reads the settings at once where they differ: for a caller that knows that the file is whole. */
  async read(): Promise<void> {
    await this.#reads.run(async () => {
      if (this.#stats() !== this.#read) await this.#update();
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reads.run(async () => {});
  }

  /** Reads the files once they stay as they are: an editor may be writing one of them. */
  #poll(): void {
    const stats = this.#stats();
    if (stats !== this.#read && stats === this.#seen && this.#reads.size === 0) void this.read();
    this.#seen = stats;
  }

  async #update(): Promise<SettingsReading> {
    const stats = this.#stats();
    const reading = await readSettings(this.#readFile);
    this.#read = stats;
    if (reading.logoPath !== this.#logoPath) {
      this.#logoPath = reading.logoPath;
      this.#read = this.#stats();
    }
    const { settings, faults } = reading;
    this.#options.onFaults(faults);
    if (settings === undefined || faults.length > 0) return reading;
    await this.#keep(reading);
    if (!isDeepStrictEqual(settings, this.#current)) {
      this.#current = settings;
      if (this.#timer !== undefined) this.#options.onChange();
    }
    return reading;
  }

  /** Returns the settings of the copy; undefined without one that can be used. */
  async #readCopy(): Promise<CatalogueSettings | undefined> {
    try {
      return (await parseSettings(readFileSync(this.#options.copy ?? ''), this.#readFile)).settings;
    } catch {
      return undefined;
    }
  }

  async #keep({ text }: SettingsReading): Promise<void> {
    const { copy, log } = this.#options;
    if (copy === null) return;
    try {
      if (text === null) await rm(copy, { force: true });
      else await writeAtomically(copy, text, { fsync: 'none' });
    } catch (error) {
      log.warn(
        { err: error, copy },
        `could not keep a copy of ${settingsName}: if the file is faulty at the next start, the defaults are used`,
      );
    }
  }

  #stats(): string {
    const paths = this.#logoPath === null ? [settingsName] : [settingsName, this.#logoPath];
    return JSON.stringify(paths.map((path) => readSettingsStat(join(this.#options.root, path))));
  }
}

const pollIntervalMs = 500;

function readSettingsStat(path: string): readonly number[] | null {
  try {
    const { size, mtimeMs, ctimeMs, ino } = lstatSync(path);
    return [size, mtimeMs, ctimeMs, ino];
  } catch {
    return null;
  }
}
