import { isDeepStrictEqual } from 'node:util';
import type { EditedBot } from '../bot/commit-message.ts';
import type { BotId } from '../bot/id.ts';
import { parsePagePath, pathOf, type PagePlace } from '../catalogue/page/layout.ts';
import { mergePage } from '../catalogue/page/merge-page.ts';
import { editPage } from '../catalogue/page/page.ts';
import { type PageFile, parsePageFile } from '../catalogue/page/page-file.ts';
import { isMainPage, isReadable, type ReadablePage } from '../catalogue/page/rules.ts';
import { readCommittedPages } from '../catalogue/store/committed-pages.ts';
import { computeTimeAfter } from '../counts/bot-state.ts';
import type { Repository } from '../git/repository.ts';
import type { Proposal } from './proposal.ts';

/** Path, relative to the catalogue's folder → the text of a page file. */
export type PageTexts = ReadonlyMap<string, string>;

/** A proposal merged with a commit of the branch. */
export interface MergedProposal {
  /** All pages of the bot at that commit; none where it has no such bot. */
  readonly before: PageTexts;
  /** The pages that the proposal changes there, merged. Empty where the commit has all of it. */
  readonly changed: PageTexts;
  /** What both have changed, each in another way: keys of the front matter, `page` or `file`. The proposal's stays. */
  readonly conflicts: readonly string[];
}

/** Reads all pages of a bot in a commit. @throws {GitError} */
export async function readPageTexts(repository: Repository, commit: string, id: BotId): Promise<PageTexts> {
  const files = await readCommittedPages(repository, commit, id);
  const blobs = await repository.objects.read(files.map(({ blob }) => blob));
  return new Map(
    files.map(({ place }, i) => [pathOf(place.id, place.locale), blobs[i]?.content.toString() ?? '']),
  );
}

/** Reads the pages that a proposal changes, as they were sent. @throws {GitError} */
export async function readProposedTexts(
  repository: Repository,
  { bot, base, version }: Pick<Proposal, 'bot' | 'base' | 'version'>,
): Promise<{ readonly former: PageTexts; readonly proposed: PageTexts }> {
  const former = await readPageTexts(repository, base, bot);
  const all = await readPageTexts(repository, version, bot);
  return { former, proposed: new Map([...all].filter(([path, text]) => text !== former.get(path))) };
}

/** Merges a proposal with a commit of the branch, key by key as machines merge. @throws {GitError} */
export async function mergeProposal(
  repository: Repository,
  tip: string,
  proposal: Pick<Proposal, 'bot' | 'base' | 'version'>,
): Promise<MergedProposal> {
  const { former, proposed } = await readProposedTexts(repository, proposal);
  const before = tip === proposal.base ? former : await readPageTexts(repository, tip, proposal.bot);
  const changed = new Map<string, string>();
  const conflicts = new Set<string>();
  for (const [path, theirs] of proposed) {
    const base = former.get(path) ?? null;
    const ours = before.get(path);
    if (ours === undefined) {
      if (base !== null) conflicts.add('file');
      changed.set(path, theirs);
      continue;
    }
    const { text, droppedKeys } = mergePage(path, { base, ours, theirs });
    for (const key of droppedKeys) conflicts.add(key);
    if (text !== ours) changed.set(path, text);
  }
  return { before, changed, conflicts: [...conflicts] };
}

/** Parses pages. */
export function parsePages(texts: PageTexts): PageFile[] {
  return [...texts].map(([path, text]) => parsePageFile(parsePagePath(path) as PagePlace, Buffer.from(text)));
}

/** Returns the changed pages, with `edited` of the main page raised where the bot was listed before. */
export function withEdited({ before, changed }: MergedProposal): PageTexts {
  const all = new Map([...before, ...changed]);
  const main = findMainPage(all);
  if (before.size === 0 || main === undefined) return changed;
  const { edited, created } = main.page.data;
  const time = computeTimeAfter(Number(edited ?? created) || 0);
  return new Map([...changed, [main.path, editPage(all.get(main.path) ?? '', { edited: time })]]);
}

/** Returns what a merged proposal changes, for the message of the commit. */
export function describeChange(id: BotId, { before, changed }: MergedProposal): EditedBot {
  const main = findMainPage(new Map([...before, ...changed]));
  const { name: title } = main?.page.data ?? {};
  const name = typeof title === 'string' ? title : '';
  if (before.size === 0) return { id, name, keys: [] };
  const former = new Map(parsePages(before).map((file) => [file.path, file.page]));
  const keys = parsePages(changed).flatMap(({ path, locale, page }) => {
    const was = former.get(path);
    if (path !== main?.path || page === undefined || was === undefined) return [locale];
    const all = new Set([...Object.keys(was.data), ...Object.keys(page.data)]);
    const differing = [...all].filter((key) => !isDeepStrictEqual(was.data[key], page.data[key]));
    return was.page === page.page ? differing : [...differing, 'page'];
  });
  return { id, name, keys };
}

function findMainPage(pages: PageTexts): ReadablePage | undefined {
  return parsePages(pages).filter(isReadable).find(isMainPage);
}
