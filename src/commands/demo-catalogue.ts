import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BotId } from '../bot/id.ts';
import type { Locale } from '../bot/locale.ts';
import type { Category, FullImages } from '../bot/schema-types.ts';
import type { Token } from '../bot/token.ts';
import { toCanonicalForm } from '../catalogue/page/canonical-form.ts';
import { pathOf } from '../catalogue/page/layout.ts';
import { CommittedState } from '../counts/committed-state.ts';
import { createStateRef } from '../counts/state-ref.ts';
import { toShardNumber, toShardPath, writeShard } from '../counts/shards.ts';
import { State } from '../counts/state.ts';
import { type NewFile, type PastCommit, writeHistory } from '../git/commit/fast-import.ts';
import { stateRef, updateRefs } from '../git/refs.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { formatCount } from '../lib/counted.ts';
import { silentLog } from '../lib/log.ts';
import { issueToken } from '../tokens/token-changes.ts';
import { fillImageCache } from './demo-images.ts';
import { commitAll, copyTemplate } from './init.ts';

/** A bot of assets/demo/bots.json. Times are in days before now. */
export interface DemoBot {
  readonly id: BotId;
  readonly created: number;
  readonly edited: number;
  /** The count today; left out for a bot that posts none. */
  readonly servers?: number;
  /** The count divided by the one of 30 days before. */
  readonly growth?: number;
  /** When the last count was posted, where that is not today. */
  readonly lastCount?: number;
  /** The other keys of its main page. */
  readonly main: { readonly category: Category; readonly images: FullImages };
  /** The pages by locale, the main page first. */
  readonly contents: Readonly<Record<string, { name: string; description: string; page: string }>>;
}

/** Makes the catalogue, its counts and its pictures. Returns the number of bots, and one of them with its token. */
export async function makeDemo(folder: string): Promise<{ bots: number; id: BotId; token: Token }> {
  const now = Date.now();
  const bots = readDemoBots();
  const filling = fillImageCache(join(folder, 'var/appdata'), bots);
  copyTemplate(folder, false, 'github');
  for (const bot of bots) writePages(folder, bot, now);
  await commitAll(folder, 'main');
  const opener = new RepositoryOpener(folder);
  const repository = await opener.open();
  const to = await writeHistory(repository, generateHistory(bots, repository.identity, now));
  await updateRefs(repository, new Map([[stateRef, { from: null, to }]]));
  const [{ id }] = bots;
  const state = new CommittedState(createStateRef(opener, silentLog), silentLog);
  const token = await issueToken(state, id, 'the demo');
  opener.close();
  await filling;
  return { bots: bots.length, id, token };
}

function readDemoBots(): readonly [DemoBot, ...DemoBot[]] {
  const json = readFileSync(fileURLToPath(import.meta.resolve('#assets/demo/bots.json')), 'utf8');
  const bots = JSON.parse(json) as Record<BotId, Omit<DemoBot, 'id'>>;
  return Object.entries(bots).map(([id, bot]) => ({ id, ...bot })) as [DemoBot];
}

function writePages(folder: string, { id, created, edited, main, contents }: DemoBot, now: number): void {
  let shared: object = { ...main, created: now - created * msPerDay, edited: now - edited * msPerDay };
  for (const [locale, { name, description, page }] of Object.entries(contents)) {
    const path = join(folder, pathOf(id, locale as Locale));
    const data = JSON.stringify({ name, description, ...shared });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, toCanonicalForm(`---\n${data}\n---\n\n${page}\n`));
    shared = {};
  }
}

/**
 * Yields the commits of a state with 90 days of counts, oldest first: one a day, and one every two hours in the last two
 * days. @param now milliseconds since the epoch
 */
function* generateHistory(bots: readonly DemoBot[], identity: string, now: number): Generator<PastCommit> {
  const state = new State();
  for (const daysAgo of generateCommitTimes()) {
    const at = now - Math.round(daysAgo * msPerDay);
    const posted = bots.filter(
      ({ id, servers, created, lastCount = 0, growth = 1 }) =>
        servers !== undefined &&
        daysAgo <= created &&
        daysAgo >= lastCount &&
        state.merge(id, { count: { value: Math.round(servers * growth ** (-daysAgo / 30)), at } }),
    );
    const shards = new Set(posted.map(({ id }) => toShardNumber(id)));
    const files = [...shards].map((shard): [string, NewFile] => {
      const text = writeShard(state.listBots(shard), (id) => state.get(id));
      return [toShardPath(shard), { mode: '100644', content: Buffer.from(text) }];
    });
    const message = `Count ${formatCount(posted.length, 'bot')}\n`;
    const committer = `${identity} ${Math.floor(at / 1000)} +0000`;
    if (posted.length > 0) yield { committer, message, files: new Map(files) };
  }
}

const msPerDay = 86_400_000;

/** Yields when commits are made, in days before now. The last one is 20 minutes old. */
function* generateCommitTimes(): Generator<number> {
  for (let days = 90; days > 2; days--) yield days;
  for (let hours = 48; hours > 0; hours -= 2) yield (hours - 2) / 24 + 20 / (24 * 60);
}
