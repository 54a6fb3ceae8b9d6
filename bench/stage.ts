import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BotId, compareBotIds } from '../src/bot/id.ts';
import { createToken, type Token, computeDigest } from '../src/bot/token.ts';
import { parsePlace } from '../src/catalogue/page/layout.ts';
import { State, toShardNumber, toShardPath, writeShard } from '../src/counts/state.ts';
import { generateRepository, importFile } from './catalogue.ts';
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
  const root = mkdtempSync(join(tmpdir(), 'botshelf-bench-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
  // PostgreSQL runs as another user.
  chmodSync(root, 0o755);
  const catalogue = join(root, 'catalogue');
  await generateRepository(catalogue, bots);
  const stageBots = shuffled(listBots(catalogue));
  commitTokens(catalogue, stageBots);
  return {
    catalogue,
    var: join(root, 'var'),
    bots: stageBots,
    tempFolder: () => mkdtempSync(join(root, 'of-')),
  };
}

/** Changes keys in a page's front matter, in place as an editor would. */
export function editPage(catalogue: string, path: string, keys: Readonly<Record<string, unknown>>): void {
  const file = join(catalogue, path);
  const [, json = '{}', page = ''] = /^---\n(.*?)\n---(\n.*)$/s.exec(readFileSync(file, 'utf8')) ?? [];
  const data = { ...(JSON.parse(json) as object), ...keys };
  writeFileSync(file, `---\n${JSON.stringify(data, null, 2)}\n---${page}`);
}

function listBots(catalogue: string): StageBot[] {
  const bots = new Map<BotId, StageBot>();
  for (const folder of readdirSync(join(catalogue, 'bots'))) {
    for (const name of readdirSync(join(catalogue, 'bots', folder))) {
      const place = parsePlace(folder, name);
      if (!('id' in place)) continue;
      const path = `bots/${folder}/${name}`;
      const isMainPage = readFileSync(join(catalogue, path), 'utf8').includes('"authors":');
      if (isMainPage) bots.set(place.id, { id: place.id, path, token: createToken() });
    }
  }
  return [...bots.values()].toSorted((a, b) => compareBotIds(a.id, b.id));
}

/** Writes the state that issuing each token would have led to, in one commit. */
function commitTokens(catalogue: string, bots: readonly StageBot[]): void {
  const state = new State();
  for (const { id, token } of bots)
    state.merge(id, { token: { digest: computeDigest(token), at: 1_700_000_000_000, generation: 1 } });
  const files = [...new Set(bots.map(({ id }) => toShardNumber(id)))].map((number) => {
    const text = writeShard(state.listBots(number), (id) => state.get(id));
    return importFile(toShardPath(number), text);
  });
  const head = 'commit refs/botshelf/state\ncommitter Bench <bench@localhost> 1700000000 +0000\n';
  const input = `${head}data 12\nIssue tokens\n${files.join('')}`;
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

/** Runs git as somebody who is not the service. */
export function git(folder: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost', '-c', 'gc.auto=0'];
  return execFileSync('git', [...identity, ...args], { cwd: folder, stdio: 'pipe', encoding: 'utf8' });
}
