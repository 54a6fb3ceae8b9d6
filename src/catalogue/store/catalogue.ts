import { parseProfile, peopleFolder, type Profile } from '../page/side-file.ts';
import { type Blocked, blockedName, locateBlocked } from '../settings/blocked.ts';
import { parseSettings, readFromDisk } from '../settings/read-settings.ts';
import { type CatalogueSettings, settingsName, toSettings } from '../settings/settings.ts';
import { BotMirror, type BotMirrorOptions } from './bot-mirror.ts';
import { BotStore } from './bot-store.ts';
import { Collections, FolderMirror, SingleFileMirror } from './side-mirrors.ts';
import type { FileMirror } from './file-mirror.ts';
import { listTop } from './folder.ts';

/** The root is the folder that holds `bots/`. */
export interface CatalogueOptions extends Omit<BotMirrorOptions, 'store' | 'limits'> {
  /** The file that keeps the last valid settings between runs; none by default. */
  readonly settingsCopy?: string;
  /** The file that says who is blocked, in place of that of the catalogue; none by default. */
  readonly blockedFile?: string | null;
  /** The file that keeps its last valid version between runs; none by default. */
  readonly blockedCopy?: string;
}

/** The state of a catalogue for operators; a fault is one sentence, or null. */
export interface CatalogueStatus {
  /** Whether every file has been compared or read since the start. */
  readonly ready: boolean;
  /** Why only rounds over all folders find changes. */
  readonly watcherFault: string | null;
  /** Why folders cannot be read. What was served of them stays served. */
  readonly folderFault: string | null;
}

/**
 * The files of a catalogue in memory, kept true to the disk by a mirror for each kind: bots, profiles, collections, the
 * settings and who is blocked.
 */
export class Catalogue {
  readonly store: BotStore;
  readonly settings: SingleFileMirror<CatalogueSettings>;
  readonly blocked: SingleFileMirror<Blocked | null>;
  /** What authors are called, by the names of the files in `people/`. */
  readonly profiles: FolderMirror<Profile>;
  readonly collections: Collections;
  readonly bots: BotMirror;
  readonly #root: string;
  readonly #mirrors: readonly FileMirror[];
  /** Those of the files that commits change. */
  readonly #committed: readonly FileMirror[];
  #ready = false;

  constructor(options: CatalogueOptions) {
    const { root, log, settingsCopy = null, blockedFile = null, blockedCopy = null } = options;
    this.#root = root;
    this.store = new BotStore(log);
    const mirrored = { ...options, store: this.store };
    const onChange = (name: string) => () => log.info({}, `${name} has changed and is in force`);
    this.settings = new SingleFileMirror({
      ...mirrored,
      file: settingsName,
      key: settingsName,
      initial: toSettings(),
      parse: (reading) => {
        const parsed = parseSettings(reading, (path) => readFromDisk(root, path));
        return { value: parsed.settings, faults: parsed.faults, beside: parsed.logoPath };
      },
      copy: settingsCopy,
      onChange: () => {
        onChange(settingsName)();
        void this.bots.revalidate();
      },
    });
    this.blocked = new SingleFileMirror<Blocked | null>({
      ...mirrored,
      ...locateBlocked(root, blockedFile),
      key: blockedName,
      initial: null,
      copy: blockedCopy,
      onChange: onChange(blockedName),
    });
    this.profiles = new FolderMirror({ ...mirrored, folder: peopleFolder, parse: parseProfile });
    this.collections = new Collections(mirrored);
    this.bots = new BotMirror({ ...mirrored, limits: () => this.settings.current });
    const { settings, blocked, profiles, collections, bots } = this;
    this.#mirrors = [bots, settings, blocked, profiles, collections];
    this.#committed = this.#mirrors.filter((mirror) => mirror !== blocked || blockedFile === null);
  }

  get status(): CatalogueStatus {
    const faults = this.#mirrors.flatMap(({ fault }) => fault ?? []);
    return {
      ready: this.#ready,
      watcherFault: this.bots.watcherFault,
      folderFault: faults.length > 0 ? faults.join('; ') : null,
    };
  }

  /**
   * Reads everything, then starts to watch. Resolves once the catalogue is complete; the watcher of the bots may start a
   * moment later, and then finds what it missed.
   * @throws {Error} when `bots/` cannot be read
   */
  async load(): Promise<void> {
    listTop(this.#root);
    await Promise.all([this.settings.load(), this.blocked.load()]);
    await Promise.all([this.bots.load(), this.profiles.load(), this.collections.load()]);
    if (this.bots.signal.aborted) return;
    this.#ready = true;
    for (const mirror of this.#mirrors) mirror.start();
  }

  /** Looks at files now, by their paths below the root: for a caller that has written them whole, or has changed what is made of them. */
  look(paths: readonly string[]): void {
    for (const mirror of this.#committed) mirror.look(paths);
  }

  /** Serves these bytes as the content of files now: for a caller that has committed them. */
  put(contents: ReadonlyMap<string, Buffer>): void {
    for (const mirror of this.#committed) mirror.put(contents);
  }

  /** Stops watching, and saves the index for the next start. */
  async close(): Promise<void> {
    for (const mirror of this.#mirrors) await mirror.close();
  }
}
