import { isDeepStrictEqual } from 'node:util';
import { parseBotId } from '../../bot/id.ts';
import { readSchema, resolveProperties } from '../../bot/schemas.ts';
import type { CatalogueChanges } from '../../bot/schema-types.ts';
import { listBranchSteps } from '../../git/branch-steps.ts';
import { hasCommit, isCommit } from '../../git/history.ts';
import type { Repository, RepositoryOpener } from '../../git/repository.ts';
import type { Current, CurrentCache } from '../../lib/current-cache.ts';
import { FairQueue } from '../../lib/serial-queue.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import type { PageFile } from '../page/page-file.ts';
import { isMainPage, isReadable } from '../page/rules.ts';
import type { ReadonlyChanges } from './change-index.ts';
import { type ChangedBot, listChangedBots } from './changed-bots.ts';
import type { ReleasedTip } from './released-tip.ts';

type Change = CatalogueChanges['changes'][number];

/** Changes in the order of commits. */
export interface ChangesAfter {
  readonly changes: readonly {
    readonly cursor: string;
    readonly what: Change['what'];
    readonly json: string;
  }[];
  /** Where the next ones begin. It is the released tip where there are no more. */
  readonly next: string;
}

/** The history of the branch does not have the commit of a cursor: it was rewritten, or never had it. */
export class UnknownCursorError extends Error {
  constructor(commit: string) {
    super(`${commit} is not in the history of the catalogue`);
    this.name = 'UnknownCursorError';
  }
}

/**
 * Whether a text can be a cursor: a commit or, inside of a step between two commits, both of them and the last bot. So the rest
 * of the step is the same even when a merge has made it part of another one.
 */
export function isChangeCursor(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?:\.(?:[0-9a-f]{40}|[0-9a-f]{64})\.[0-9]{1,20})?$/.test(text);
}

/** What was added, changed and removed in the catalogue, from Git's history up to the released tip. */
export class ChangeFeed {
  readonly tip: ReleasedTip;
  readonly #repositoryOpener: RepositoryOpener;
  readonly #index: Pick<ReadonlyChanges, 'read'>;
  readonly #cache: CurrentCache;
  readonly #queue = new FairQueue(64);

  constructor(
    tip: ReleasedTip,
    repositoryOpener: RepositoryOpener,
    index: Pick<ReadonlyChanges, 'read'>,
    cache: CurrentCache,
  ) {
    this.tip = tip;
    this.#repositoryOpener = repositoryOpener;
    this.#index = index;
    this.#cache = cache;
  }

  /**
   * Returns what changed after a cursor: at most `limit` changes, and fewer where many commits changed nothing here. Readers
   * that are at the same place, as most are, share what is read.
   * @param since a cursor that `isChangeCursor`
   * @param client whom they are for, such as a group of addresses
   * @throws {UnknownCursorError}
   * @throws {QueueFullError}
   * @throws {GitError}
   */
  async read(since: string, limit: number, client: string): Promise<ChangesAfter & Current> {
    const read = async (): Promise<ChangesAfter> =>
      this.tip.current === since
        ? { changes: [], next: since }
        : await this.#queue.run(client, async () => await this.#readNow(since, limit));
    return await this.#cache.get(`changes ${since} ${limit}`, read, {
      inputs: [() => this.tip.current],
      isExact: true,
      sizeOf: ({ changes }) =>
        changes.reduce((sum, { json, cursor }) => sum + json.length + cursor.length + 200, 0),
    });
  }

  async #readNow(since: string, limit: number): Promise<ChangesAfter> {
    const repository = await this.#repositoryOpener.open();
    const changes: ChangesAfter['changes'][number][] = [];
    let next = since;
    let steps = 0;
    const slice = new TimeSlice();
    for await (const { from, to, time, after } of listSteps(repository, since, this.tip.current ?? since)) {
      for await (const bot of listChangedBots(repository, from, to, parseBotId(after))) {
        if (changes.length === limit) return { changes, next };
        if (slice.isOver) await slice.next();
        next = `${from}.${to}.${bot.id}`;
        const { what, pages } = bot;
        const change: Change = {
          commit: to,
          at: new Date(time).toISOString(),
          bot: bot.id,
          what,
          keys: what === 'changed' ? await this.#listKeys(bot) : [],
          locales: pages.map(({ locale }) => locale),
        };
        changes.push({ cursor: next, what, json: JSON.stringify(change) });
      }
      next = to;
      if (++steps === maxSteps) break;
      if (slice.isOver) await slice.next();
    }
    return { changes, next };
  }

  /** Returns the keys of the main page that differ. */
  async #listKeys({ id, pages }: ChangedBot): Promise<string[]> {
    const { before, after } = await this.#index.read(id, { pages: pages.slice(0, maxPages) });
    const [was, is] = [readMainValues(before), readMainValues(after)];
    return mainKeys.filter((key) => !isDeepStrictEqual(was[key], is[key]));
  }
}

/** Steps that are read for a page. */
const maxSteps = 500;

/** Pages of a bot that are read for a change. */
const maxPages = 100;

/** The keys of a main page, and the text below them. */
const mainKeys = [...Object.keys(resolveProperties(readSchema('main-page'))), 'page'];

function readMainValues(files: readonly PageFile[]): Readonly<Record<string, unknown>> {
  const main = files.filter(isReadable).find(isMainPage)?.page;
  return { ...main?.data, page: main?.page };
}

/** Yields the rest of the step that a cursor is in, then the steps up to the tip. @throws as `read` */
async function* listSteps(repository: Repository, since: string, tip: string) {
  const [from = '', to = from, after = ''] = since.split('.');
  for (const id of new Set([from, to]))
    if (!(await isCommit(repository, id)) || !(await hasCommit(repository, tip, id)))
      throw new UnknownCursorError(id);
  for await (const step of listBranchSteps(repository, from, to)) yield { ...step, after };
  for await (const step of listBranchSteps(repository, to, tip)) yield { ...step, after: '' };
}
