import { isDeepStrictEqual } from 'node:util';
import { editedTimeAfter, msPerDay } from '../bot/clock.ts';
import {
  type EditedBot,
  formatChangedBy,
  formatCommitMessage,
  type AccountId,
} from '../bot/commit-message.ts';
import type { BotId } from '../bot/id.ts';
import { english } from '../bot/locale.ts';
import { readMainData } from '../catalogue/changes/bot-changes.ts';
import { pathOf } from '../catalogue/page/layout.ts';
import { editPage, withPage, withValues } from '../catalogue/page/page.ts';
import { readCommittedPages } from '../catalogue/page/page-file.ts';
import { isMainPage, isReadable, type ReadablePage } from '../catalogue/page/rules.ts';
import { type Blocked, describeBlocked, findBlocked } from '../catalogue/settings/blocked.ts';
import type { CatalogueSettings } from '../catalogue/settings/settings.ts';
import { checkProposal, findReviewedChanges } from '../check/check-changes.ts';
import {
  blockedRule,
  createFileError,
  type Finding,
  toErrorFinding,
  parseSideFile,
  parseSideFiles,
} from '../check/check.ts';
import { type FilesCommit, type NewFile, toNewFile } from '../git/commit-files.ts';
import type { Repository } from '../git/repository.ts';
import { mergeFile } from '../sync/key-merge.ts';
import {
  type Proposal,
  type FileTexts,
  isBot,
  isSentByBot,
  readFileTexts,
  type Subject,
  parsePages,
  ProposalError,
  maxNoteLength,
  type Person,
  type SentPage,
  type SentProposal,
} from './proposal.ts';

/** A proposal that is merged with a commit of the branch. */
export interface MergedProposal {
  /** All files of the subject at that commit; empty if the commit does not have the subject. */
  readonly before: FileTexts;
  /** The merged files that the proposal changes. Empty if the commit already has all changes. */
  readonly changed: FileTexts;
  /**
   * The keys that both sides have changed differently: keys of the front matter, `page` or `file`. The merge has the
   * proposal's values.
   */
  readonly conflicts: readonly string[];
}

/** Reads the pages of a proposal as they were sent. @throws {GitError} */
export async function readProposedTexts(
  repository: Repository,
  { subject, base, version }: Pick<Proposal, 'subject' | 'base' | 'version'>,
): Promise<{ readonly former: FileTexts; readonly proposed: FileTexts }> {
  const former = await readFileTexts(repository, base, subject);
  const all = await readFileTexts(repository, version, subject);
  return { former, proposed: new Map([...all].filter(([path, text]) => text !== former.get(path))) };
}

/** Merges a proposal with a commit of the branch key by key, like merges of machines. @throws {GitError} */
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

/** Returns the changed files. Sets `edited` of the main page of a bot that was already listed. */
export function withEdited(subject: Subject, { before, changed }: MergedProposal): FileTexts {
  if (!isBot(subject)) return changed;
  const all = new Map([...before, ...changed]);
  const main = findMainPage(all);
  if (before.size === 0 || main === undefined) return changed;
  const text = editPage(all.get(main.path) ?? '', { edited: editedTimeAfter(main.page.data) });
  return new Map([...changed, [main.path, text]]);
}

/**
 * Returns the file of a page that the token of a bot sent. Nothing but its markdown and description changes; a page in
 * a new language has the name of the main page.
 * @throws {ProposalError} gone, if the bot has no main page
 * @throws {BotshelfError} unavailable, if the file is faulty
 */
export function withSentPage(before: FileTexts, { id, locale, page, description }: SentPage): FileTexts {
  const main = findMainPage(before);
  if (main === undefined) throw new ProposalError('gone');
  const path = pathOf(id, locale);
  const { name } = main.page.data;
  const text = before.get(path) ?? `---\n${JSON.stringify({ name }, null, 2)}\n---\n`;
  return new Map([[path, withPage(path, text, page, description)]]);
}

/** Returns the message of the commit that accepts a proposal. @param reviewer null if nobody decided here */
export function describeChange(
  { subject, proposer }: Pick<Proposal, 'subject' | 'proposer'>,
  merged: MergedProposal,
  reviewer: Person | null,
): string {
  const trailers = [`Proposed-by: ${proposer.id}`, ...(reviewer ? [`Reviewed-by: ${reviewer.id}`] : [])];
  if (isBot(subject)) return formatCommitMessage([describeEdit(subject, merged)], trailers);
  const paths = [...merged.changed.keys()].join(', ');
  return `${merged.before.size === 0 ? 'Add' : 'Update'} ${paths}\n\n${trailers.join('\n')}\n`;
}

/** A maintainer's change of a listed bot without a proposal: the mark for adults, or the removal of all files. */
export interface BotAct {
  readonly bot: BotId;
  readonly act: 'adult' | 'remove';
  readonly by: Person;
  /** For the message of the commit. */
  readonly reason: string;
}

/**
 * Plans the commit of a maintainer's change; without files if the bot has the mark, or no files.
 * @throws {GitError}
 * @throws {BotshelfError} faulty-page, if the main page cannot be edited
 */
export async function planBotAct(
  repository: Repository,
  tip: string,
  { bot, act, by, reason }: BotAct,
): Promise<FilesCommit> {
  const { prefix } = repository;
  const texts = await readFileTexts(repository, tip, bot);
  const main = findMainPage(texts);
  const files = new Map<string, NewFile>();
  if (act === 'remove')
    for (const { place } of await readCommittedPages(repository, tip, bot))
      files.set(prefix + pathOf(bot, place.locale), null);
  else if (texts.size > 0) {
    const path = main?.path ?? pathOf(bot, english);
    const text = withValues(path, texts.get(path) ?? null, { nsfw: true }, Date.now());
    if (text !== texts.get(path)) files.set(prefix + path, toNewFile(text));
  }
  const edit = { id: bot, name: nameOf(main), keys: act === 'remove' ? [] : ['nsfw'] };
  const trailers = [formatChangedBy(by.name), `Reviewed-by: ${by.id}`];
  const verb = act === 'remove' ? 'Remove' : 'Update';
  return { files, message: formatCommitMessage([edit], trailers, { verb, reason }) };
}

function describeEdit(id: BotId, { before, changed }: MergedProposal): EditedBot {
  const main = findMainPage(new Map([...before, ...changed]));
  const name = nameOf(main);
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

function nameOf(main: ReadablePage | undefined): string {
  const name = main?.page.data['name'];
  return typeof name === 'string' ? name : '';
}

/** Whether a proposal is for a new bot, from an author of the bot, from its token, or from another account. */
export type ProposalKind = 'newBots' | 'authors' | 'token' | 'others';

/** Returns the kind of a proposal. @throws {ProposalError} off, for the profile of another account */
export function findKind(subject: Subject, before: FileTexts, account: AccountId): ProposalKind {
  if (subject === `profile-${account}`) return 'authors';
  if (subject.startsWith('profile-')) throw new ProposalError('off');
  if (subject === String(account)) return 'token';
  if (!isBot(subject)) return 'others';
  if (before.size === 0) return 'newBots';
  const [main, ...others] = parsePages(before).filter(isReadable).filter(isMainPage);
  const authors = others.length === 0 ? main?.page.data['authors'] : undefined;
  return Array.isArray(authors) && authors.includes(account) ? 'authors' : 'others';
}

/**
 * Returns whether a change needs a review even if authors may publish. For profiles, only an author's change that
 * keeps the name does not.
 */
export function isReviewed(
  { subject, isAuthor = false }: Pick<SentProposal, 'subject' | 'isAuthor'>,
  before: FileTexts,
  pages: FileTexts,
): boolean {
  if (!isBot(subject)) return !isAuthor || readProfileName(before) !== readProfileName(pages);
  const after = new Map([...before, ...pages]);
  return findReviewedChanges(parsePages(before), parsePages(after)).length > 0;
}

/** Returns the name in a profile; undefined if the profile is missing or faulty. */
function readProfileName([file]: Iterable<readonly [path: string, text: string]>): string | undefined {
  const parsed = file && parseSideFile(...file);
  return parsed && 'value' in parsed && 'name' in parsed.value ? parsed.value.name : undefined;
}

/** Checks the files of a merged proposal, and its sender. */
export function checkMerged(
  { subject, proposer }: Pick<Proposal, 'subject' | 'proposer'>,
  { before, changed }: MergedProposal,
  settings: CatalogueSettings,
  blocked: Blocked,
): readonly Finding[] {
  const after = new Map([...before, ...changed]);
  const [path = ''] = changed.keys();
  const senders = findBlocked(blocked, { authors: [proposer.id] }).map((name) =>
    createFileError(path, blockedRule, describeBlocked(name, true)),
  );
  const findings = isBot(subject)
    ? checkProposal(parsePages(before), parsePages(after), settings, blocked)
    : parseSideFiles(after).faults.map(toErrorFinding);
  const { authors } = isBot(subject) && before.size === 0 ? readMainData(parsePages(after)) : {};
  const isForOthers = Array.isArray(authors) && !authors.includes(proposer.id);
  const message = `the account ${proposer.id} sent this and is not among the authors: ask the authors whether the bot may be listed`;
  const sender = isForOthers
    ? [{ ...createFileError(path, 'sender', message), severity: 'warning' as const }]
    : [];
  return [...senders, ...findings, ...sender];
}

/** Returns the open proposal after checking its version. @throws {ProposalError} gone, changed */
export function ensureVersion(current: Proposal | undefined, version: string): Proposal {
  if (current === undefined) throw new ProposalError('gone');
  if (current.version !== version) throw new ProposalError('changed');
  return current;
}

/** @throws {ProposalError} conflict */
export function ensureMerged({ conflicts }: MergedProposal): void {
  if (conflicts.length > 0) throw new ProposalError('conflict', { fields: conflicts.join(', ') });
}

/** @throws {ProposalError} faulty */
export function ensureFaultless(findings: readonly Finding[]): void {
  const fault = findings.find(({ severity }) => severity === 'error');
  if (fault !== undefined) throw new ProposalError('faulty', { fault: fault.message });
}

/**
 * @param lastDay the number of versions that the account or the bot sent in the last day
 * @throws {ProposalError} new-account, too-many-sent
 */
export function ensureMaySend(
  { accountCreatedAt = 0, ...sent }: Omit<SentProposal, 'pages'>,
  { proposals: { minAccountAgeDays: days } }: CatalogueSettings,
  lastDay: number,
): void {
  if (Date.now() - accountCreatedAt < days * msPerDay) throw new ProposalError('new-account', { days });
  const max = isSentByBot(sent) ? maxSentPerDayByBot : maxSentPerDay;
  if (lastDay >= max) throw new ProposalError('too-many-sent', { max });
}

/** @param open the open proposals @throws {ProposalError} too-many-open, too-many-in-all */
export function ensureRoom(open: readonly Proposal[], account: AccountId): void {
  if (open.filter(({ proposer }) => proposer.id === account).length >= maxOpenPerAccount)
    throw new ProposalError('too-many-open', { max: maxOpenPerAccount });
  if (open.length >= maxOpen) throw new ProposalError('too-many-in-all', { max: maxOpen });
}

/** Refuses a note or pages that are too long. @throws {ProposalError} too-large */
export function ensureShort(note: string, pages: FileTexts = new Map()): void {
  const bytes = [...pages.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (note.length > maxNoteLength || bytes > maxProposalBytes)
    throw new ProposalError('too-large', { max: maxProposalBytes / 1024 });
}

/** Maximum number of open proposals of an account, and in total. */
const maxOpenPerAccount = 5;
const maxOpen = 10_000;

/** Maximum number of versions that an account, and the token of a bot, may send in a day. */
const maxSentPerDay = 20;
const maxSentPerDayByBot = 10;

/** Maximum number of bytes of the pages of a proposal. */
const maxProposalBytes = 64 * 1024;
