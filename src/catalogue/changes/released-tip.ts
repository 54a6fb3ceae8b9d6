import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BotId } from '../../bot/id.ts';
import { BranchFollower } from '../../git/branch-follower.ts';
import { isCommit } from '../../git/history.ts';
import { readHead } from '../../git/refs.ts';
import type { Repository, RepositoryOpener } from '../../git/repository.ts';
import { findTreeEntries } from '../../git/tree-listing.ts';
import type { Log } from '../../lib/log.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { pathOf } from '../page/layout.ts';
import { isBlob } from '../page/page-file.ts';
import type { Catalogue } from '../store/catalogue.ts';
import { readPageStat } from '../store/folder.ts';
import type { PageBlobs } from './change-index.ts';
import { listChangedBots } from './changed-bots.ts';

export interface ReleasedTipOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
  readonly repositoryOpener: RepositoryOpener;
  readonly catalogue: Pick<Catalogue, 'scanner' | 'store'>;
  readonly log: Log;
}

/**
 * The last commit of the checked-out branch whose pages are served. A bot that is read after the commit was released is not
 * older, whether the commit was posted, merged, or made by a person in the clone.
 */
export class ReleasedTip extends BranchFollower {
  /** Has an event when it moves, and when it is closed. */
  readonly moves = new EventEmitter<{ move: [] }>();
  readonly #options: ReleasedTipOptions;
  #current: string | undefined;

  constructor(options: ReleasedTipOptions) {
    super({
      ...options,
      failed: (message) =>
        `could not read from Git what changed: ${message}; /api/v2/changes waits, retrying`,
      ended: 'what changed was read from Git',
    });
    this.#options = options;
    // One for each open stream.
    this.moves.setMaxListeners(0);
  }

  /** Undefined while the service starts, and without a Git repository that has a commit. */
  get current(): string | undefined {
    return this.#current;
  }

  /** Releases what is checked out. Called before the catalogue is read, which finds these pages or later ones. */
  async begin(): Promise<void> {
    const opening = this.#options.repositoryOpener.open();
    this.#current = (await opening.then(readHead).catch(() => null)) ?? undefined;
  }

  override async close(): Promise<void> {
    const closed = super.close();
    this.moves.emit('move');
    await closed;
  }

  /** Waits until what the branch has now is served, and releases it. */
  override async look(): Promise<void> {
    const repository = await this.#options.repositoryOpener.open();
    const head = await readHead(repository);
    if (head === null || head === this.#current) return;
    const from = this.#current && (await isCommit(repository, this.#current)) ? this.#current : null;
    const slice = new TimeSlice('service');
    let waitedMs = 0;
    for await (const { id, pages } of listChangedBots(repository, from, head)) {
      for (const page of pages)
        while (!this.#isShown(repository, id, page) && waitedMs < maxWaitMs && !this.signal.aborted) {
          if (await isReplaced(repository, id, page, head)) break;
          await sleep(retryMs);
          waitedMs += retryMs;
        }
      if (slice.isOver) await slice.next();
      if (this.signal.aborted) return;
    }
    this.#current = head;
    this.moves.emit('move');
  }

  /**
   * Whether a page is served as it was committed, or has faults. One that is on the disk and not served yet is read now. It is
   * neither between a commit of the service and its files, and where a person edits the file.
   */
  #isShown({ hash }: Repository, id: BotId, { locale, after }: PageBlobs): boolean {
    const { root, catalogue } = this.#options;
    const served = catalogue.store.bots.get(id)?.files.find((file) => file.locale === locale);
    if (served?.sha === after) return true;
    const place = { id, locale };
    const isOnDisk = after === undefined ? !readPageStat(root, place) : isBlob(root, place, after, hash);
    if (isOnDisk) catalogue.scanner.read([place]);
    return isOnDisk;
  }
}

/** Milliseconds that a commit waits at most for pages that differ in the work tree: a person may edit them for hours. */
const maxWaitMs = 15_000;
const retryMs = 50;

/** Whether a later commit has another version of a page, and tells of it once more. */
async function isReplaced(
  repository: Repository,
  id: BotId,
  { locale, after }: PageBlobs,
  commit: string,
): Promise<boolean> {
  const head = await readHead(repository);
  const path = repository.prefix + pathOf(id, locale);
  return head !== commit && (await findTreeEntries(repository, head, [path])).get(path)?.id !== after;
}
