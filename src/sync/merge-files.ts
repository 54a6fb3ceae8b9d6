import { parsePagePath } from '../catalogue/page/layout.ts';
import { mergePage, type MergedPage, type PageVersions } from '../catalogue/page/merge-page.ts';
import { parsePage } from '../catalogue/page/page.ts';
import type { NewFile } from '../git/commit/fast-import.ts';
import type { GitFile } from '../git/diff.ts';
import type { Repository } from '../git/repository.ts';
import { KeyHistory, type KeyWriter } from './key-history.ts';
import type { DroppedEdit } from './dropped-edits.ts';

/** Two sides of a branch that have diverged. */
export interface Sides {
  /** The last commit of theirs that is merged into ours. */
  readonly base: string;
  /** What the service, or a person in its clone, has committed since. */
  readonly ours: string;
  /** What the remote has: what people merged there, and what other services pushed. */
  readonly theirs: string;
}

/** A file that both sides changed; null where there is none. */
export interface FileVersions {
  readonly base: GitFile | null;
  readonly ours: GitFile | null;
  readonly theirs: GitFile | null;
}

/**
 * Merges files that both sides changed: pages by meaning, of all others theirs stays.
 * @param theirFiles the files that theirs changed
 * @param sides decides a key that both changed by who wrote it last
 * @throws {GitError}
 */
export async function mergeFiles(
  repository: Repository,
  both: ReadonlyMap<string, FileVersions>,
  theirFiles: ReadonlyMap<string, GitFile | null>,
  sides: Sides,
): Promise<{ readonly files: Map<string, NewFile>; readonly droppedEdits: readonly DroppedEdit[] }> {
  const files = new Map<string, NewFile>();
  const droppedEdits: DroppedEdit[] = [];
  const disputed: string[] = [];
  for (const [path, versions] of both) {
    const { ours, theirs } = versions;
    const pages = await readVersions(repository, path, versions);
    const merged = pages && mergePage(path, pages);
    const file = merged && pages ? createNewPage(merged, pages, theirs) : theirs;
    if (file !== null || !becomesFolder(path, theirFiles)) files.set(path, file);
    const gaveWay = merged?.droppedKeys ?? (ours === null ? [] : ['file']);
    if (merged && gaveWay.some(isKey)) disputed.push(path);
    for (const what of gaveWay)
      droppedEdits.push({ path, what, of: 'ours', because: 'the remote has changed the same' });
  }
  if (disputed.length === 0) return { files, droppedEdits };
  const decided = await mergeByWriters(repository, both, disputed, sides);
  for (const { path, file } of decided) files.set(path, file);
  const paths = new Set(decided.map(({ path }) => path));
  const others = droppedEdits.filter(({ path }) => !paths.has(path));
  return { files, droppedEdits: [...others, ...decided.flatMap((page) => page.droppedEdits)] };
}

interface MergedPageFile {
  readonly path: string;
  readonly file: NewFile;
  readonly droppedEdits: readonly DroppedEdit[];
}

/** Merges these pages again, with each key that both sides changed from the side whose writer wins. */
async function mergeByWriters(
  repository: Repository,
  both: ReadonlyMap<string, FileVersions>,
  paths: readonly string[],
  { ours, theirs }: Sides,
): Promise<MergedPageFile[]> {
  const [mine, others] = await Promise.all([
    KeyHistory.read(repository, ours, theirs, paths),
    KeyHistory.read(repository, theirs, ours, paths),
  ]);
  const merged: MergedPageFile[] = [];
  for (const path of paths) {
    const versions = both.get(path);
    const bot = parsePagePath(path, repository.prefix)?.id;
    const pages = versions && (await readVersions(repository, path, versions));
    if (versions === undefined || pages === undefined || bot === undefined) continue;
    const [our, their] = [pages.ours, pages.theirs].map(
      (text) => parsePage(path, Buffer.from(text)).page?.data,
    );
    const droppedEdits: DroppedEdit[] = [];
    for (const what of mergePage(path, pages).droppedKeys) {
      const writers = await Promise.all([
        mine.writerOf(path, bot, what, our?.[what]),
        others.writerOf(path, bot, what, their?.[what]),
      ]);
      droppedEdits.push({
        path,
        what,
        ...(isKey(what) ? chooseLoser(...writers) : chooseLoser(undefined, undefined)),
      });
    }
    const keep = new Set(droppedEdits.flatMap(({ what, of }) => (of === 'theirs' ? what : [])));
    const page = mergePage(path, { ...pages, keep });
    // Ours and theirs together may break a rule that each keeps: then the first merge stays.
    if (page.droppedKeys.includes('file')) continue;
    merged.push({ path, file: createNewPage(page, pages, versions.theirs), droppedEdits });
  }
  return merged;
}

function chooseLoser(
  mine: KeyWriter | undefined,
  other: KeyWriter | undefined,
): Pick<DroppedEdit, 'of' | 'because'> {
  const of = rankWriter(mine) > rankWriter(other) ? 'theirs' : 'ours';
  const [winner, loser] = of === 'theirs' ? [mine, other] : [other, mine];
  if (winner?.by === 'post') return { of, because: 'a later post changed the same' };
  const isPeoples = winner?.by === 'person' && loser?.by !== 'person';
  return { of, because: isPeoples ? 'people changed the same' : 'the remote has changed the same' };
}

function rankWriter(writer: KeyWriter | undefined): number {
  if (writer === undefined) return Number.NEGATIVE_INFINITY;
  return writer.by === 'person' ? Number.POSITIVE_INFINITY : writer.at;
}

/** Returns whether what was set aside is a key of the front matter. */
function isKey(what: string): boolean {
  return what !== 'page' && what !== 'file';
}

/** Returns whether theirs has a folder where the file was. */
function becomesFolder(path: string, theirFiles: ReadonlyMap<string, GitFile | null>): boolean {
  return [...theirFiles].some(([other, file]) => file !== null && other.startsWith(`${path}/`));
}

/** Returns the texts of a page's versions; undefined for what is no page on both sides. */
async function readVersions(
  repository: Repository,
  path: string,
  versions: FileVersions,
): Promise<PageVersions | undefined> {
  const files = [versions.ours, versions.theirs];
  if (!parsePagePath(path, repository.prefix) || !files.every(isFile)) return undefined;
  const ids = [...files, versions.base].filter(isFile).map(({ id }) => id);
  const [ours, theirs, base] = await repository.objects.read(ids);
  if (ours === undefined || theirs === undefined) return undefined;
  return {
    base: base?.content.toString() ?? null,
    ours: ours.content.toString(),
    theirs: theirs.content.toString(),
  };
}

function createNewPage({ text }: MergedPage, { theirs }: PageVersions, file: GitFile | null): NewFile {
  return text === theirs ? file : { mode: file?.mode ?? '100644', content: Buffer.from(text) };
}

function isFile(file: GitFile | null): file is GitFile {
  return file !== null && file.mode.startsWith('100');
}
