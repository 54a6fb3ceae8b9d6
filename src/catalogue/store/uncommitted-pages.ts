import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatIsoTime } from '../../bot/clock.ts';
import type { BotId } from '../../bot/id.ts';
import { english } from '../../bot/locale.ts';
import { listUncommittedFiles } from '../../git/history.ts';
import { findConversion, type Repository, type RepositoryOpener } from '../../git/repository.ts';
import type { Log } from '../../lib/log.ts';
import { botsFolder, parseFilePath, pathOf } from '../page/layout.ts';

/** A page that a person has edited in the clone and not committed, so that posts to its bot are refused. */
interface UncommittedPage {
  /** Relative to the top of the repository. */
  readonly path: string;
  /** When the file was last written, in milliseconds since the epoch; null if it was removed. */
  readonly editedAt: number | null;
  /** A sentence for operators. */
  readonly message: string;
}

/** Returns the pages with uncommitted edits. @throws {GitError} */
export async function findUncommittedPages(
  repository: Repository,
  signal: AbortSignal,
): Promise<UncommittedPage[]> {
  const found = await listUncommittedPages(repository, signal);
  if (found.length === 0) return [];
  // What the service itself was committing is committed by then.
  await sleep(confirmAfterMs, undefined, { ref: false, signal });
  const still = new Map(
    (await listUncommittedPages(repository, signal)).map((page) => [page.path, page.editedAt]),
  );
  return found.filter(({ path, editedAt }) => still.get(path) === editedAt);
}

const confirmAfterMs = 250;

/** Returns what `findConversion` does for the pages of bots. @throws {GitError} */
export async function findPageConversion(repository: Repository): Promise<string | null> {
  const anyPage = pathOf('0' as BotId, english);
  return await findConversion(repository, repository.prefix + anyPage);
}

async function listUncommittedPages(repository: Repository, signal: AbortSignal): Promise<UncommittedPage[]> {
  const { folder, prefix } = repository;
  const paths = await listUncommittedFiles(repository, prefix + botsFolder, signal);
  return paths
    .filter((path) => parseFilePath(path, prefix) !== undefined)
    .map((path) => {
      const editedAt = statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? null;
      const since = editedAt === null ? '' : ` since ${formatIsoTime(editedAt)}`;
      const message = `${JSON.stringify(path)} has had uncommitted edits${since}, so posts to its bot are refused: commit or discard them`;
      return { path, editedAt, message };
    });
}

/**
 * Looks for pages with uncommitted edits in the background, every 5 s in a small catalogue and at most a twentieth of the
 * time in a large one.
 */
export class UncommittedPages {
  readonly #repositoryOpener: RepositoryOpener;
  readonly #log: Log;
  readonly #closing = new AbortController();
  #pages: readonly UncommittedPage[] = [];
  /** Undefined before the first look. */
  #conversion: string | null | undefined;
  /** By path: when each page was first found, for those that were removed. */
  #foundAt: ReadonlyMap<string, number> = new Map();
  #logged: ReadonlySet<string> = new Set();

  constructor(repositoryOpener: RepositoryOpener, log: Log) {
    this.#repositoryOpener = repositoryOpener;
    this.#log = log;
  }

  /** Returns the pages that the last look has found. */
  list(): readonly UncommittedPage[] {
    return this.#pages;
  }

  /** The settings of Git that make unedited pages look edited; null if there are none. */
  get conversion(): string | null {
    return this.#conversion ?? null;
  }

  async start(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const started = performance.now();
      await this.look();
      const pause = Math.max(5000, 20 * (performance.now() - started));
      await sleep(pause, undefined, { ref: false, signal }).catch(() => {});
    }
  }

  /** Looks once. */
  async look(): Promise<void> {
    // Without a repository there is nothing to commit to, which `/readyz` says.
    this.#pages = await this.#repositoryOpener
      .open()
      .then(async (repository) => {
        // Settings seldom change: once there is no reason, they are not read again.
        if (this.#conversion !== null) await this.#readConversion(repository);
        return await findUncommittedPages(repository, this.#closing.signal);
      })
      .catch(() => []);
    this.#logNew();
  }

  close(): void {
    this.#closing.abort();
  }

  async #readConversion(repository: Repository): Promise<void> {
    const before = this.#conversion;
    this.#conversion = await findPageConversion(repository);
    if (this.#conversion !== null && before === undefined) this.#log.warn({}, this.#conversion);
  }

  /** Logs each page once, when its edit is so old that nobody is at work on it. */
  #logNew(): void {
    const now = Date.now();
    this.#foundAt = new Map(this.#pages.map(({ path }) => [path, this.#foundAt.get(path) ?? now]));
    const old = this.#pages.filter(
      ({ path, editedAt }) => now - (editedAt ?? this.#foundAt.get(path) ?? now) > logAfterMs,
    );
    for (const { path, message } of old.slice(0, maxNamedPaths))
      if (!this.#logged.has(path)) this.#log.warn({ path }, message);
    this.#logged = new Set(old.map(({ path }) => path));
  }
}

/** Paths that are named at a time; the rest are counted. */
export const maxNamedPaths = 20;

const logAfterMs = 10 * 60 * 1000;
