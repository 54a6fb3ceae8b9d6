import { parseAccountId } from '../../bot/commit-message.ts';
import { type BotId, compareBotIds } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import { type RepositoryOpener, toUnavailableError } from '../../git/repository.ts';
import type { Current, CurrentCache } from '../../lib/current-cache.ts';
import { BotshelfError } from '../../lib/errors.ts';
import { forEachInSlices, sortInSlices } from '../../lib/time-slice.ts';
import { parsePageFile, readCommittedPages } from '../page/page-file.ts';
import { noLimits } from '../page/rules.ts';
import type { Profile } from '../page/side-file.ts';
import { type BotIndex, type IndexedBot, readBot } from '../store/bot-index.ts';
import type { FolderMirror } from '../store/side-mirrors.ts';

/** An author's bots. */
interface AuthorBots {
  /** In order of id. */
  readonly bots: readonly IndexedBot[];
  /** When the oldest bot was created, in milliseconds since the epoch; null without bots. */
  readonly since: number | null;
  /** The languages of the bots' pages. */
  readonly locales: readonly Locale[];
}

/** An account as an author of bots. */
export interface Author extends AuthorBots {
  readonly id: string;
  /** Undefined if the account has no profile; the same object until its file changes. */
  readonly profile: Profile | undefined;
}

/** All bots by author. */
interface AuthorGroups {
  readonly accounts: () => Iterable<string>;
  readonly findBots: (account: string) => AuthorBots;
}

/** The authors of all bots. */
export class AuthorIndex {
  readonly #bots: BotIndex;
  readonly #profiles: Pick<FolderMirror<Profile>, 'files'>;
  readonly #cache: CurrentCache;

  constructor(bots: BotIndex, profiles: Pick<FolderMirror<Profile>, 'files'>, cache: CurrentCache) {
    this.#bots = bots;
    this.#profiles = profiles;
    this.#cache = cache;
  }

  /** Returns the profile of an account; undefined if it does not have one. */
  findProfile(account: string): Profile | undefined {
    return this.#profiles.files.get(`${account}.json`);
  }

  /**
   * Returns an account with its bots, which may be an empty list. All bots are grouped in one pass, at most once every
   * few seconds.
   */
  async find(id: string): Promise<Author & Current> {
    const { findBots, current } = await this.#group();
    const profile = this.findProfile(id);
    return { ...findBots(id), id, profile, current: () => current() && this.findProfile(id) === profile };
  }

  /** Returns the authors of all bots: their ids in numeric order, and a function that finds an author by id. */
  async all(): Promise<{ readonly ids: readonly string[]; readonly find: (id: string) => Author }> {
    const { findBots } = await this.#group();
    const { ids } = await this.#cache.get('author-ids', async () => {
      const all = Array.from((await this.#group()).accounts(), (account) => ({ account }));
      const sorted = await sortInSlices(all, (a, b) => compareBotIds(a.account, b.account));
      return { ids: sorted.map(({ account }) => account) };
    });
    return { ids, find: (id) => ({ ...findBots(id), id, profile: this.findProfile(id) }) };
  }

  async #group(): Promise<AuthorGroups & Current> {
    return await this.#cache.get('authors', async () => await groupByAuthor(await this.#bots.sorted()));
  }
}

/** Returns the author with this text as the id of the account. @throws {BotshelfError} unknown-author */
export async function findKnownAuthor(authors: AuthorIndex, text: string): Promise<Author & Current> {
  const id = parseAccountId(text);
  const author = id && (await authors.find(id));
  if (author && (author.profile || author.bots.length > 0)) return author;
  const quoted = JSON.stringify(text.slice(0, 60));
  const message = `there is no author ${quoted}: send the account of a listed bot`;
  throw new BotshelfError('unknown-author', message);
}

/** Groups bots by their authors, in one pass. */
async function groupByAuthor(bots: readonly IndexedBot[]): Promise<AuthorGroups> {
  // Most authors have one bot, which needs no array.
  const byAuthor = new Map<string, IndexedBot | IndexedBot[]>();
  await forEachInSlices(bots, (bot) => {
    for (const author of bot.facts.authors) {
      const known = byAuthor.get(author);
      if (known === undefined) byAuthor.set(author, bot);
      else if (Array.isArray(known)) known.push(bot);
      else byAuthor.set(author, [known, bot]);
    }
  });
  // Summaries are cached, because reading the bots of an author with thousands takes long.
  const summaries = new Map<string, AuthorBots>();
  return {
    accounts: () => byAuthor.keys(),
    findBots: (account) => {
      const bots = byAuthor.get(account) ?? [];
      const summary = summaries.get(account) ?? summarise(Array.isArray(bots) ? bots : [bots]);
      if (summary.bots.length > 0) summaries.set(account, summary);
      return summary;
    },
  };
}

function summarise(bots: readonly IndexedBot[]): AuthorBots {
  const oldest = bots.reduce((time, { facts }) => Math.min(time, facts.created), Infinity);
  const locales = new Set(bots.flatMap(({ facts }) => facts.locales));
  return { bots, since: bots.length === 0 ? null : oldest, locales: [...locales] };
}

/**
 * Reads the authors of a bot from the last commit. Ignores uncommitted edits and the index. Empty if the commit does
 * not have a valid bot of this id.
 * @throws {BotshelfError} unavailable, when there is no repository, or it cannot be read
 */
export async function readCommittedAuthors(
  repositoryOpener: RepositoryOpener,
  id: BotId,
): Promise<readonly string[]> {
  const repository = await repositoryOpener.open();
  try {
    const files = await readCommittedPages(repository, 'HEAD', id);
    const blobs = await repository.objects.read(files.map(({ blob }) => blob));
    const pages = files.map(({ place }, i) => parsePageFile(place, blobs[i]?.content ?? Buffer.alloc(0)));
    return readBot(id, pages, undefined, noLimits).bot?.facts.authors ?? [];
  } catch (error) {
    throw toUnavailableError(error);
  }
}
