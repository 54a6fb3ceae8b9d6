import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BotId, compareBotIds } from '../src/bot/id.ts';
import { createToken, type Token, computeDigest } from '../src/bot/token.ts';
import { parsePlace } from '../src/catalogue/page/layout.ts';
import { State } from '../src/counts/state.ts';
import { toShardNumber, toShardPath, writeShard } from '../src/counts/shards.ts';
import { generateRepository } from './catalogue.ts';
import { Random } from './random.ts';

/** What all rows are measured on: a generated catalogue in a Git repository, each bot with a token. */
export interface Stage {
  /** The catalogue's folder, the top of a repository of its own. */
  readonly catalogue: string;
  /** For what the service keeps outside the repository. */
  readonly var: string;
  /** In an order that is the same in every run, but no other: take as many from the front as are needed. */
  readonly bots: readonly StageBot[];
  /** A new empty folder, gone when the benchmark is over. */
  tempFolder(): string;
}

export interface StageBot {
  readonly id: BotId;
  readonly token: Token;
  /** The path of its main page, relative to the catalogue. */
  readonly path: string;
}

/** Generates the catalogue, with a token for every bot. */
export async function setStage(bots: number): Promise<Stage> {
  const root = tempFolder();
  const catalogue = join(root, 'catalogue');
  await generateRepository(catalogue, { bots });
  const stageBots = shuffled(listBots(catalogue));
  commitTokens(catalogue, stageBots);
  return { catalogue, var: join(root, 'var'), bots: stageBots, tempFolder };
}

/** Changes keys in a page's front matter, in place as an editor would. */
export function editPage(catalogue: string, path: string, keys: Readonly<Record<string, unknown>>): void {
  const file = join(catalogue, path);
  const [, json = '{}', page = ''] = /^---\n(.*?)\n---(\n.*)$/s.exec(readFileSync(file, 'utf8')) ?? [];
  const data = { ...(JSON.parse(json) as object), ...keys };
  writeFileSync(file, `---\n${JSON.stringify(data, null, 2)}\n---${page}`);
}

/** Returns the state in which the bots have their tokens, and no counts. */
export function stateOf(bots: readonly StageBot[]): State {
  const state = new State();
  for (const { id, token } of bots) {
    state.merge(id, { token: { digest: computeDigest(token), at: 1_700_000_000_000, generation: 1 } });
  }
  return state;
}

/** Returns what tells `git fast-import` the files of a state that have these bots. */
export function stateFiles(state: State, bots: readonly StageBot[]): string {
  const files = [...new Set(bots.map(({ id }) => toShardNumber(id)))].map((number) => {
    const text = writeShard(state.listBots(number), (id) => state.get(id));
    return `M 100644 inline ${toShardPath(number)}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  });
  return files.join('');
}

function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'botshelf-bench-')));
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

function listBots(catalogue: string): StageBot[] {
  const bots = new Map<BotId, StageBot>();
  for (const folder of readdirSync(join(catalogue, 'bots'))) {
    for (const name of readdirSync(join(catalogue, 'bots', folder))) {
      const place = parsePlace(folder, name);
      if (!('id' in place)) continue;
      const path = `bots/${folder}/${name}`;
      if (bots.has(place.id) && !isMainPage(join(catalogue, path))) continue;
      bots.set(place.id, { id: place.id, path, token: createToken() });
    }
  }
  return [...bots.values()].toSorted((a, b) => compareBotIds(a.id, b.id));
}

function isMainPage(file: string): boolean {
  return readFileSync(file, 'utf8').includes('"authors":');
}

/** Writes the state that issuing each token would have led to, in one commit. */
function commitTokens(catalogue: string, bots: readonly StageBot[]): void {
  const head = 'commit refs/botshelf/state\ncommitter Bench <bench@localhost> 1700000000 +0000\n';
  const input = `${head}data 12\nIssue tokens\n${stateFiles(stateOf(bots), bots)}`;
  execFileSync('git', ['fast-import', '--quiet'], { cwd: catalogue, input });
}

function shuffled<T>(values: readonly T[]): T[] {
  const result = [...values];
  const random = new Random(1);
  for (let last = result.length - 1; last > 0; last--) {
    const other = random.integer(0, last);
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
