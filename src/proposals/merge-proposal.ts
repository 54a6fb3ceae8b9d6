import { isDeepStrictEqual } from 'node:util';
import { editedTimeAfter } from '../bot/clock.ts';
import { type EditedBot, formatCommitMessage } from '../bot/commit-message.ts';
import type { BotId } from '../bot/id.ts';
import { mergeFile } from '../catalogue/page/merge-file.ts';
import { editPage } from '../catalogue/page/page.ts';
import { isMainPage, isReadable, type ReadablePage } from '../catalogue/page/rules.ts';
import type { Repository } from '../git/repository.ts';
import { type Proposal, type FileTexts, isBot, readFileTexts, type Subject, parsePages } from './proposal.ts';

/** A proposal merged with a commit of the branch. */
export interface MergedProposal {
  /** All files of the subject at that commit; none if it has no such subject. */
  readonly before: FileTexts;
  /** The files that the proposal changes there, merged. Empty if the commit has all of it. */
  readonly changed: FileTexts;
  /** What both have changed, each in another way: keys of the front matter, `page` or `file`. The proposal's stays. */
  readonly conflicts: readonly string[];
}

/** Reads the pages that a proposal changes, as they were sent. @throws {GitError} */
export async function readProposedTexts(
  repository: Repository,
  { subject, base, version }: Pick<Proposal, 'subject' | 'base' | 'version'>,
): Promise<{ readonly former: FileTexts; readonly proposed: FileTexts }> {
  const former = await readFileTexts(repository, base, subject);
  const all = await readFileTexts(repository, version, subject);
  return { former, proposed: new Map([...all].filter(([path, text]) => text !== former.get(path))) };
}

/** Merges a proposal with a commit of the branch, key by key as machines merge. @throws {GitError} */
export async function mergeProposal(
  repository: Repository,
  tip: string,
  proposal: Pick<Proposal, 'subject' | 'base' | 'version'>,
): Promise<MergedProposal> {
  const { former, proposed } = await readProposedTexts(repository, proposal);
  const before = tip === proposal.base ? former : await readFileTexts(repository, tip, proposal.subject);
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
    const { text, droppedKeys } = mergeFile(path, { base, ours, theirs });
    for (const key of droppedKeys) conflicts.add(key.replace(/\..*/, ''));
    if (text !== ours) changed.set(path, text);
  }
  return { before, changed, conflicts: [...conflicts] };
}

/** Returns the changed files, of a bot with `edited` of the main page set if the bot was listed before. */
export function withEdited(subject: Subject, { before, changed }: MergedProposal): FileTexts {
  if (!isBot(subject)) return changed;
  const all = new Map([...before, ...changed]);
  const main = findMainPage(all);
  if (before.size === 0 || main === undefined) return changed;
  const text = editPage(all.get(main.path) ?? '', { edited: editedTimeAfter(main.page.data) });
  return new Map([...changed, [main.path, text]]);
}

/** Returns the message of the commit that has a merged proposal. */
export function describeChange(
  subject: Subject,
  merged: MergedProposal,
  trailers: readonly string[],
  toShownName = (name: string): string => name,
): string {
  if (isBot(subject)) {
    const edit = describeEdit(subject, merged);
    return formatCommitMessage([{ ...edit, name: toShownName(edit.name) }], trailers);
  }
  const paths = [...merged.changed.keys()].join(', ');
  return `${merged.before.size === 0 ? 'Add' : 'Update'} ${paths}\n\n${trailers.join('\n')}\n`;
}

function describeEdit(id: BotId, { before, changed }: MergedProposal): EditedBot {
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

function findMainPage(pages: FileTexts): ReadablePage | undefined {
  return parsePages(pages).filter(isReadable).find(isMainPage);
}
