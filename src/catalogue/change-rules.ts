import type { BotId } from '../bot/id.ts';
import type { ChangedFile } from '../git/changed-files.ts';
import { asError, type Finding, submoduleMessage } from './check.ts';
import { fileFault } from './fault.ts';
import { botsFolder, type Place, placeOf, splitPath } from './layout.ts';
import { type Page, parsePage } from './page.ts';
import type { PageFile } from './page-file.ts';
import { isMainPage, isReadable } from './rules.ts';

/** The main pages of the changed bots as they were, of those whose main page is among the changed files. */
export function formerMainPages(changes: readonly ChangedFile[]): ReadonlyMap<BotId, Page> {
  const pages = new Map<BotId, Page>();
  for (const { previousPath, before } of changes) {
    const place = previousPath === null ? undefined : placeOfPath(previousPath);
    const page = place && before ? parsePage(previousPath ?? '', before).page : undefined;
    if (place && page && isMainPage({ page })) pages.set(place.id, page);
  }
  return pages;
}

/** What a bot's main page may not change, and what a maintainer wants to know: `former` is as it was, if it was. */
export function findingsOfChange(
  files: readonly PageFile[],
  former: Page | undefined,
  changed: ReadonlySet<string>,
): Finding[] {
  return files
    .filter(isReadable)
    .filter((file) => changed.has(file.path) && isMainPage(file))
    .flatMap(({ page }) => [
      ...ensureCreatedStays(page, former),
      ...tellServiceOwned(page, former, 'verified'),
      ...tellServiceOwned(page, former, 'legacy'),
    ]);
}

/** What the changed paths themselves do wrong, whatever is in the files. */
export function findingsOfPath(change: ChangedFile): Finding[] {
  return pathRules.flatMap((rule) => rule(change));
}

const pathRules = [ensureIdStays, ensureNoSubmodule, ensureFolderStays];

function ensureCreatedStays(page: Page, former: Page | undefined): Finding[] {
  const before = former?.data['created'];
  if (typeof before !== 'number' || page.data['created'] === before) return [];
  const message = `created was ${before}: put it back, it says when the bot was listed`;
  return [asError(page.faultAt(['created'], 'created-stays', message))];
}

function tellServiceOwned(page: Page, former: Page | undefined, key: 'verified' | 'legacy'): Finding[] {
  const now = page.data[key] ?? false;
  const before = former?.data[key] ?? false;
  if (now === before) return [];
  const message = `${key} changes from ${JSON.stringify(before)} to ${JSON.stringify(now)}: that is a maintainer's to decide`;
  return [{ ...page.faultAt([key], `${key}-changed`, message), severity: 'notice' }];
}

function ensureIdStays({ path, previousPath, kind }: ChangedFile): Finding[] {
  if (previousPath === null || previousPath === path || kind === 'gone') return [];
  const before = placeOfPath(previousPath);
  const now = placeOfPath(path);
  if (!before || !now || before.id === now.id) return [];
  const message = `this was ${previousPath}: put it back, a bot keeps its id; another bot is written anew`;
  return [asError(fileFault(path, 'id-stays', message))];
}

/** A submodule that was not checked out is an empty folder: only Git can tell. */
function ensureNoSubmodule({ path, kind }: ChangedFile): Finding[] {
  if (kind !== 'submodule' || !isBelowBots(path)) return [];
  return [asError(fileFault(path.replace(/\/$/, ''), 'submodule', submoduleMessage))];
}

function ensureFolderStays({ path, kind }: ChangedFile): Finding[] {
  if (path !== botsFolder || kind === 'gone') return [];
  const message = `${botsFolder} is no folder any more: make it one again, with the pages in it`;
  return [asError(fileFault(path, 'regular-file', message))];
}

function isBelowBots(path: string): boolean {
  return path === botsFolder || path.startsWith(`${botsFolder}/`);
}

function placeOfPath(path: string): Place | undefined {
  const parts = splitPath(path);
  const place = parts && placeOf(parts.folder, parts.name);
  return place && 'id' in place ? place : undefined;
}
