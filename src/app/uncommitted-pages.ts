import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatIsoTime } from '../bot/clock.ts';
import type { BotId } from '../bot/id.ts';
import { english } from '../bot/locale.ts';
import { botsFolder, parseFilePath, pathOf } from '../catalogue/page/layout.ts';
import { listUncommittedFiles } from '../git/branch/clone.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
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

/**
 * Returns the pages with uncommitted edits, which two looks find: a commit of the service moves the branch before it
 * writes the files.
 * @throws {GitError}
 */
export async function findUncommittedPages(
  repository: Repository,
  signal: AbortSignal,
): Promise<UncommittedPage[]> {
  const { folder, prefix } = repository;
  const look = async (): Promise<string[]> =>
    await listUncommittedFiles(repository, prefix + botsFolder, signal);
  const found = await look();
  if (found.length === 0) return [];
  await sleep(commitMs, undefined, { signal });
  const still = new Set(await look());
  return found.flatMap((path) => {
    if (!still.has(path) || parseFilePath(path, prefix) === undefined) return [];
    const editedAt = statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? null;
    const since = editedAt === null ? '' : ` since ${formatIsoTime(editedAt)}`;
    const message = `${JSON.stringify(path)} has had uncommitted edits${since}, so posts to its bot are refused: commit or discard them`;
    return [{ path, editedAt, message }];
  });
}

/** More milliseconds than a commit takes from the move of the branch to its last file. */
const commitMs = 1000;

/**
 * Returns a message if Git checks out pages with other bytes than the committed ones, with the command that ends that;
 * null otherwise. The bytes of such a file differ from the commit's, while `git status` is clean.
 * @throws {GitError}
 */
export async function findPageConversion(repository: Repository): Promise<string | null> {
  const { folder, prefix, commonDir } = repository;
  const readSetting = async (name: string): Promise<string> =>
    (await repository.run(['config', '--default=', '--get', name])).trim().toLowerCase();
  const attributes = await readAttributes(repository, prefix + pathOf('0' as BotId, english));
  const [autocrlf, eol] = await Promise.all(['core.autocrlf', 'core.eol'].map(readSetting));
  const { filter } = attributes;
  const isFiltered = filter !== '' && (await readSetting(`filter.${filter}.smudge`)) !== '';
  const cause = isFiltered ? `filter=${filter}` : findCause(attributes, autocrlf, eol);
  if (cause === null) return null;
  const file = join(commonDir, 'info/attributes');
  const fix = `cd ${folder} && git diff --quiet && echo '* ${noConversion}' >>${file} && git ls-files -z | xargs -0 touch && git checkout --quiet .`;
  return `Git checks out pages with other bytes than they are committed with (${cause}), so posts to their bots are refused: ${fix}`;
}

const attributeNames = ['text', 'eol', 'ident', 'filter', 'working-tree-encoding'] as const;

const noConversion = '-text -ident -filter -working-tree-encoding';

/** The values of attributes; empty if unspecified. */
type CheckoutAttributes = Readonly<Record<(typeof attributeNames)[number], string>>;

async function readAttributes(repository: Repository, path: string): Promise<CheckoutAttributes> {
  const output = (await repository.run(['check-attr', '-z', ...attributeNames, '--', path])).split('\0');
  const read = (name: string): string => {
    const value = output[output.indexOf(name) + 1] ?? '';
    return value === 'unspecified' || (value === 'unset' && name !== 'text') ? '' : value;
  };
  return Object.fromEntries(attributeNames.map((name) => [name, read(name)])) as CheckoutAttributes;
}

/** As `convert.c` of Git decides. */
function findCause(
  { text, eol, ident, 'working-tree-encoding': encoding }: CheckoutAttributes,
  autocrlf: string | undefined,
  coreEol: string | undefined,
): string | null {
  if (ident !== '') return 'ident';
  if (encoding !== '') return `working-tree-encoding=${encoding}`;
  if (text === 'unset' || eol === 'lf') return null;
  if (eol === 'crlf') return 'eol=crlf';
  if (autocrlf === 'true') return 'core.autocrlf';
  return coreEol === 'crlf' && text !== '' && autocrlf !== 'input' ? 'core.eol=crlf' : null;
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
