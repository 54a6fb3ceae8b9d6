import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { BotId } from '../bot/id.ts';
import { parsePagePath } from '../catalogue/page/layout.ts';
import { type BotIndex, parseListElement } from '../catalogue/store/bot-index.ts';
import { diffTrees } from '../git/diff.ts';
import type { RepositoryOpener } from '../git/repository.ts';
import { messageOf } from '../lib/errors.ts';
import { forEachInSlices } from '../lib/time-slice.ts';
import type { Log } from '../lib/log.ts';
import { asksForAdministrator } from '../bot/invite.ts';
import {
  type Attention,
  type AttentionSources,
  listAttention,
  type ListOwn,
  listOwnAttention,
  type OwnSources,
} from '../site/review/attention.ts';
import { readPageData } from '../sync/key-history.ts';

/** What the list is made from. */
export interface AttentionParts extends AttentionSources {
  readonly repositoryOpener: RepositoryOpener;
  readonly log: Log;
}

/** Returns what lists what owners can mend of their bots. @param root the folder of the catalogue */
export function createOwnAttention(parts: Omit<OwnSources, 'modifiedAt'>, root: string): ListOwn {
  const modifiedAt = (path: string): number =>
    statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return async (...what) => await listOwnAttention({ ...parts, modifiedAt }, ...what);
}

/** Lists what needs attention. Where Git cannot be read, the list is not complete. */
export async function readAttention(parts: AttentionParts): Promise<Attention> {
  const { store, countHistory, repositoryOpener, log } = parts;
  await countHistory.isRead('recent');
  const found = await findNewAdministrators(store.bots, repositoryOpener).catch((error: unknown) => {
    log.warn({ err: error }, `could not read the invites of past commits: ${messageOf(error)}`);
    return undefined;
  });
  return await listAttention(parts, found);
}

/**
 * Returns the bots whose invite asks for Administrator and did not in the last commit that is 1, 7 or 90 days old, with the
 * latest of these times, in milliseconds since the epoch.
 * @throws {GitError | WritesUnavailableError}
 */
export async function findNewAdministrators(
  bots: Pick<BotIndex, 'get'>,
  repositoryOpener: RepositoryOpener,
): Promise<ReadonlyMap<BotId, number>> {
  const repository = await repositoryOpener.open();
  const found = new Map<BotId, number>();
  for (const days of [90, 7, 1]) {
    const time = Date.now() - days * 86_400_000;
    const age = `--min-age=${Math.floor(time / 1000)}`;
    const commit = (await repository.run(['rev-list', '--max-count=1', age, 'HEAD'])).trim();
    if (commit === '') continue;
    const changed: { readonly id: BotId; readonly path: string; readonly blob: string }[] = [];
    await forEachInSlices(await diffTrees(repository, commit, 'HEAD'), ({ path, before }) => {
      const place = before && parsePagePath(path, repository.prefix);
      const bot = place && bots.get(place.id);
      if (bot && asksForAdministrator(parseListElement(bot).invite))
        changed.push({ id: bot.id, path, blob: before.id });
    });
    for (const { id, path, blob } of changed) {
      // Only the main page has an invite.
      const invite = (await readPageData(repository, path, blob))?.['invite'];
      if (typeof invite === 'string' && !asksForAdministrator(invite)) found.set(id, time);
    }
  }
  return found;
}
