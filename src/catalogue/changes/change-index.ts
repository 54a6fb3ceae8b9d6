import { createReadStream } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type CommitAuthor, decodeCommit, parseCommitAuthor } from '../../bot/commit-message.ts';
import type { BotId } from '../../bot/id.ts';
import type { BranchConsumer, BranchAdvance } from '../../git/branch/feed.ts';
import { type LoggedChange, type LoggedCommits, readChangeLog, isAncestor } from '../../git/history.ts';
import type { Repository, RepositoryOpener } from '../../git/repository.ts';
import { removeUnfinishedWrites, writeAtomically } from '../../lib/files.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import { botsFolder, type FilePlace, folderOf, isFolderName, parseFilePath } from '../page/layout.ts';
import { type PageFile, parsePageFile } from '../page/page-file.ts';

/** A commit that changed pages of a bot. */
export interface BotCommit extends Pick<LoggedChange, 'line' | 'time'> {
  readonly id: string;
  readonly pages: readonly PageBlobs[];
}

/** The blobs of a bot's file before and after a commit; undefined if the file did not exist. */
export interface PageBlobs extends Pick<FilePlace, 'locale'> {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

interface ChangeIndexOptions {
  /** The folder of the index; created when needed. */
  readonly folder: string;
  readonly repositoryOpener: RepositoryOpener;
}

/**
 * The commits that changed each bot, from the history of the branch: one file for each folder of `bots/`, one line per bot
 * and commit. It is a cache: filled in the background and extended when the branch moves. It is rebuilt if its files were
 * changed or the history was rewritten; to detect that, it stores the last commit that it read and the sizes of its files.
 */
export class ChangeIndex implements BranchConsumer {
  readonly failed = (message: string): string =>
    `could not read Git’s history for what changed in bots: ${message}; it is missing from their pages, retrying`;
  readonly ended = 'Git’s history was read for what changed in bots';
  /** Whether all of the history was read. */
  isComplete = false;
  readonly #options: ChangeIndexOptions;
  /** File name → size in bytes. */
  #sizes = new Map<string, number>();
  /** How often the index was rebuilt. */
  #version = 0;
  /** Runs one read at a time, because each may take megabytes. */
  readonly #reads = new SerialQueue();

  constructor(options: ChangeIndexOptions) {
    this.#options = options;
  }

  /** Returns a stamp that changes whenever the commits of a bot may have changed. */
  stamp(id: BotId): string {
    return `${this.#version} ${this.isComplete && this.#sizes.get(folderOf(id))}`;
  }

  /** Reads the missing commits. @throws errors of Git and the file system; the next call rebuilds the index */
  async handle({ repository, to, signal }: BranchAdvance): Promise<void> {
    const { folder } = this.#options;
    // The last commit that was read, and the size of all files then.
    const tipFile = join(folder, 'last-read');
    const [kept, bytes] = (await readFile(tipFile, 'utf8').catch(() => '')).split(' ');
    if (this.isComplete && kept === to) return;
    if (!this.isComplete) {
      await removeUnfinishedWrites(folder);
      this.#sizes = await readSizes(folder);
    }
    const isWhole = kept !== undefined && Number(bytes) === this.#countBytes();
    const from = isWhole && (await isAncestor(repository, kept, to).catch(() => false)) ? kept : undefined;
    this.isComplete &&= from !== undefined;
    try {
      if (from === undefined) {
        this.#version++;
        this.#sizes.clear();
        await rm(folder, { recursive: true, force: true });
        await mkdir(folder, { recursive: true });
      }
      const commits = { from, to, folder: repository.prefix + botsFolder };
      await this.#add(repository, commits, signal);
      await writeAtomically(tipFile, `${to} ${this.#countBytes()}`, { fsync: 'none' });
      this.isComplete = true;
    } catch (error) {
      this.isComplete = false;
      throw error;
    }
  }

  #countBytes(): number {
    return [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  /** Appends the changes of these commits to the files. */
  async #add(repository: Repository, commits: LoggedCommits, signal: AbortSignal): Promise<void> {
    const { prefix } = repository;
    const { folder } = this.#options;
    const lines = new Map<string, string>();
    let length = 0;
    const write = async (): Promise<void> => {
      for (const [name, text] of lines) {
        await appendFile(join(folder, name), text);
        this.#sizes.set(name, (this.#sizes.get(name) ?? 0) + text.length);
      }
      lines.clear();
      length = 0;
    };
    let last = '';
    const log = readChangeLog(repository, commits, join(folder, 'log'), signal);
    for await (const { path, commit, time, before, after, line } of log) {
      const place = parseFilePath(path, prefix);
      if (place === undefined) continue;
      const name = folderOf(place.id);
      // Git lists the pages of a bot one after the other.
      const begin = `${place.id} ${commit} ${time} ${line}`;
      const text = `${begin === last ? '' : `\n${begin}`} ${place.locale} ${before ?? ''} ${after ?? ''}`;
      if (begin !== last && length > maxPendingLength) await write();
      lines.set(name, (lines.get(name) ?? '') + text);
      length += text.length;
      last = begin;
    }
    await write();
  }

  /**
   * Returns the commits that changed a bot by time and id, newest first: the same order in all clones. Empty until all
   * of the history was read.
   */
  async list(id: BotId): Promise<BotCommit[]> {
    const commits = (await this.#readCommits(id)).filter(({ line }) => line !== 'merge');
    return commits.toSorted((a, b) => b.time - a.time || (a.id < b.id ? 1 : -1));
  }

  /**
   * Returns the commits along first parents, newest first in the order of the branch: a merged pull request is one
   * commit with all its changes. Times in the future are set to now.
   */
  async listSteps(id: BotId): Promise<BotCommit[]> {
    const now = Date.now();
    const commits = (await this.#readCommits(id)).filter(({ line }) => line !== 'side');
    return commits.map((commit) => ({ ...commit, time: Math.min(commit.time, now) }));
  }

  async #readCommits(id: BotId): Promise<BotCommit[]> {
    if (!this.isComplete) return [];
    const name = folderOf(id);
    const text = await this.#reads.run(
      async () => await readEnd(join(this.#options.folder, name), this.#sizes.get(name) ?? 0),
    );
    const lines = [...text.matchAll(new RegExp(`\n(${id} .*)`, 'g'))];
    return lines.map(([, line = '']) => parseCommitLine(line)).toReversed();
  }

  /** Reads the pages of a bot before and after a commit. @throws {GitError} */
  async read(id: BotId, commit: Pick<BotCommit, 'pages'>): Promise<Record<'before' | 'after', PageFile[]>> {
    const { objects, hash } = await this.#options.repositoryOpener.open();
    const readPages = async (side: 'before' | 'after'): Promise<PageFile[]> => {
      const pages = commit.pages.filter((page) => page[side] !== undefined);
      const blobs = await objects.read(pages.map((page) => page[side] ?? ''));
      return pages.map(({ locale }, i) =>
        parsePageFile({ id, locale }, blobs[i]?.content ?? Buffer.alloc(0), hash),
      );
    };
    return { before: await readPages('before'), after: await readPages('after') };
  }

  /** Reads the author of a commit. @throws {GitError} */
  async readAuthor({ id }: BotCommit): Promise<CommitAuthor> {
    const { objects, identity } = await this.#options.repositoryOpener.open();
    const object = await objects.readOne(id);
    return parseCommitAuthor(object ? decodeCommit(object.content) : '', identity);
  }
}

/** Maximum number of characters that wait to be written: with a thousand files, some kilobytes for each. */
const maxPendingLength = 4 * 1024 * 1024;

/** Maximum number of bytes read from a file: about 7,000 changes in the bots of a folder. */
const maxReadBytes = 1024 * 1024;

async function readSizes(folder: string): Promise<Map<string, number>> {
  const names = (await readdir(folder).catch(() => [])).filter(isFolderName);
  return new Map(
    await Promise.all(names.map(async (name) => [name, (await stat(join(folder, name))).size] as const)),
  );
}

/** Reads the end of the first `size` bytes of a file, which may grow at the same time. Empty if the file does not exist. */
async function readEnd(path: string, size: number): Promise<string> {
  const [start, end] = [Math.max(0, size - maxReadBytes), size - 1];
  return size === 0 ? '' : await text(createReadStream(path, { start, end })).catch(() => '');
}

function parseCommitLine(line: string): BotCommit {
  const [, id = '', time, kind, ...words] = line.split(' ');
  const pages = words.flatMap((locale, i): PageBlobs[] => {
    const [before, after] = words.slice(i + 1).map((blob) => blob || undefined);
    return i % 3 === 0 ? [{ locale: locale as FilePlace['locale'], before, after }] : [];
  });
  return { id, time: Number(time), pages, line: kind as BotCommit['line'] };
}
