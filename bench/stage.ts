import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToken, type Token, computeDigest } from '../src/bot/token.ts';
import { State, toShardNumber, toShardPath, writeShard } from '../src/counts/state.ts';
import { generateRepository, importCommits, importFile, type MainPlace } from './catalogue.ts';
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

export interface StageBot extends MainPlace {
  readonly token: Token;
}

/** Generates the catalogue, with a token for every bot. */
export async function setStage(bots: number): Promise<Stage> {
  const root = mkdtempSync(join(tmpdir(), 'botshelf-bench-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }));
  // PostgreSQL runs as another user.
  chmodSync(root, 0o755);
  const catalogue = join(root, 'catalogue');
  const places = await generateRepository(catalogue, bots);
  const stageBots = shuffled(places.map((place) => ({ ...place, token: createToken() })));
  await importCommits(catalogue, issueTokens(stageBots));
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

/** A remote that has the catalogue and its state, with the clones of the service and of a person. */
export type SharedStage = Readonly<Record<'shared' | 'clone' | 'person' | 'var', string>>;

export function shareStage({ catalogue, tempFolder }: Stage): SharedStage {
  const folder = tempFolder();
  const at = (name: string): string => join(folder, name);
  const folders = { shared: at('shared.git'), clone: at('clone'), person: at('person'), var: at('var') };
  const { shared, clone, person } = folders;
  git(folder, 'clone', '-q', '--bare', '--shared', catalogue, shared);
  git(catalogue, 'push', '-q', shared, 'refs/botshelf/state');
  for (const to of [clone, person]) git(folder, 'clone', '-q', '--shared', shared, to);
  return folders;
}

/** Yields the commit of the state that issuing each token would have led to. */
function* issueTokens(bots: readonly StageBot[]): Generator<string> {
  const state = new State();
  for (const { id, token } of bots)
    state.merge(id, { token: { digest: computeDigest(token), at: 1_700_000_000_000, generation: 1 } });
  yield 'commit refs/botshelf/state\ncommitter Bench <bench@localhost> 1700000000 +0000\ndata 12\nIssue tokens\n';
  for (const number of new Set(bots.map(({ id }) => toShardNumber(id))))
    yield importFile(
      toShardPath(number),
      writeShard(state.listBots(number), (id) => state.get(id)),
    );
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

/** Returns the megabytes of a repository's packs. */
export function packedMegabytes(folder: string): number {
  const [, kibibytes] = /^size-pack: (\d+)$/m.exec(git(folder, 'count-objects', '-v')) ?? [];
  return (Number(kibibytes) * 1024) / 1e6;
}

/** Runs git as somebody who is not the service. */
export function git(folder: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost', '-c', 'gc.auto=0'];
  return execFileSync('git', [...identity, ...args], { cwd: folder, stdio: 'pipe', encoding: 'utf8' });
}
