import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatIsoTime } from '../bot/clock.ts';
import type { BotId } from '../bot/id.ts';
import { english } from '../bot/locale.ts';
import { botsFolder, parseFilePath, pathOf } from '../catalogue/page/layout.ts';
import { listUncommittedFiles } from '../git/history.ts';
import { findConversion, type Repository, type RepositoryOpener } from '../git/repository.ts';
import type { Log } from '../lib/log.ts';

/** A page that a person has edited in the clone and not committed, so that posts to its bot are refused. */
interface UncommittedPage {
  /** Relative to the top of the repository. */
  readonly path: string;
  /** When the file was last written, in milliseconds since the epoch; null if it was removed. */
  readonly editedAt: number | null;
  /** A sentence for operators. */
  readonly message: string;
}

/** Returns the pages with uncommitted edits, but for those that were written just now. @throws {GitError} */
export async function findUncommittedPages(
  repository: Repository,
  signal: AbortSignal,
): Promise<UncommittedPage[]> {
  const { folder, prefix } = repository;
  const paths = await listUncommittedFiles(repository, prefix + botsFolder, signal);
  return paths.flatMap((path) => {
    if (parseFilePath(path, prefix) === undefined) return [];
    const editedAt = statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? null;
    if (editedAt !== null && Math.abs(Date.now() - editedAt) < commitMs) return [];
    const since = editedAt === null ? '' : ` since ${formatIsoTime(editedAt)}`;
    const message = `${JSON.stringify(path)} has had uncommitted edits${since}, so posts to its bot are refused: commit or discard them`;
    return [{ path, editedAt, message }];
  });
}

/** Milliseconds in which the service commits the files that it writes. */
const commitMs = 5000;

/** Returns what `findConversion` does for the pages of bots. @throws {GitError} */
export async function findPageConversion(repository: Repository): Promise<string | null> {
  const anyPage = pathOf('0' as BotId, english);
  return await findConversion(repository, repository.prefix + anyPage);
}

/** Looks for pages with uncommitted edits, at the start and every ten minutes. */
export class UncommittedPages {
  /** The pages that the last look found. */
  pages: readonly UncommittedPage[] = [];
  /** The settings of Git that make unedited pages look edited; null without such settings. */
  conversion: string | null = null;
  readonly #repositoryOpener: RepositoryOpener;
  readonly #log: Log;
  readonly #closing = new AbortController();
  #logged: ReadonlySet<string> = new Set();

  constructor(repositoryOpener: RepositoryOpener, log: Log) {
    this.#repositoryOpener = repositoryOpener;
    this.#log = log;
  }

  async start(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.look();
      await sleep(intervalMs, undefined, { ref: false, signal }).catch(() => {});
    }
  }

  /** Looks once. Logs an edit at the second look that finds it: nobody is at work on that. */
  async look(): Promise<void> {
    const { conversion } = this;
    const before = new Map(this.pages.map(({ path, editedAt }) => [path, editedAt]));
    try {
      const repository = await this.#repositoryOpener.open();
      this.conversion = await findPageConversion(repository);
      this.pages = await findUncommittedPages(repository, this.#closing.signal);
    } catch {
      // Without a repository there is nothing to commit to, which `/readyz` says.
      this.pages = [];
    }
    if (this.conversion !== null && this.conversion !== conversion) this.#log.warn({}, this.conversion);
    const old = this.pages
      .filter(({ path, editedAt }) => before.get(path) === editedAt)
      .slice(0, maxNamedPaths);
    for (const { path, message } of old) if (!this.#logged.has(path)) this.#log.warn({ path }, message);
    this.#logged = new Set(old.map(({ path }) => path));
  }

  close(): void {
    this.#closing.abort();
  }
}

/** Paths that are named at a time; the rest are counted. */
export const maxNamedPaths = 20;

const intervalMs = 10 * 60 * 1000;
