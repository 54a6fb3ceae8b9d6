import type { AccountId } from '../bot/commit-message.ts';
import { readMainData } from '../catalogue/changes/bot-changes.ts';
import { isMainPage, isReadable } from '../catalogue/page/rules.ts';
import { type Blocked, describeBlocked, findBlocked } from '../catalogue/settings/blocked.ts';
import type { CatalogueSettings } from '../catalogue/settings/settings.ts';
import { blockedRule } from '../check/blocked-rule.ts';
import { checkProposal, findReviewedChanges } from '../check/check-proposal.ts';
import {
  createFileError,
  type Finding,
  toErrorFinding,
  parseSideFile,
  parseSideFiles,
} from '../check/check.ts';
import type { MergedProposal } from './merge-proposal.ts';
import {
  parsePages,
  ProposalError,
  maxNoteLength,
  type Proposal,
  type FileTexts,
  isBot,
  type Subject,
  type ProposalPolicy,
  type SentProposal,
} from './proposal.ts';

/** Whether a proposal is of a new bot, of an author of the bot, or of someone else. */
export type ProposalKind = 'newBots' | 'authors' | 'others';

/** Returns what is done with a proposal that may be of any of these kinds. */
export function findPolicy({ proposals }: CatalogueSettings, kinds: readonly ProposalKind[]): ProposalPolicy {
  const [policy = 'off', ...others] = new Set(kinds.map((kind) => proposals[kind]));
  return kinds.length === 1 || (policy === 'off' && others.length === 0) ? policy : 'review';
}

/** Returns the kind of a proposal. @throws {ProposalError} off, for the profile of another account */
export function findKind(subject: Subject, before: FileTexts, account: AccountId): ProposalKind {
  if (subject === `profile-${account}`) return 'authors';
  if (subject.startsWith('profile-')) throw new ProposalError('off');
  if (!isBot(subject)) return 'others';
  if (before.size === 0) return 'newBots';
  const [main, ...others] = parsePages(before).filter(isReadable).filter(isMainPage);
  const authors = others.length === 0 ? main?.page.data['authors'] : undefined;
  return Array.isArray(authors) && authors.includes(account) ? 'authors' : 'others';
}

/** Returns whether a change is reviewed even where authors may publish: of a profile, all but an author's under the same name. */
export function isReviewed(
  { subject, isAuthor = false }: SentProposal,
  before: FileTexts,
  pages: FileTexts,
): boolean {
  if (!isBot(subject)) return !isAuthor || readProfileName(before) !== readProfileName(pages);
  const after = new Map([...before, ...pages]);
  return findReviewedChanges(parsePages(before), parsePages(after)).length > 0;
}

/** Returns what an account is called by its profile; undefined if that is missing or has a fault. */
function readProfileName([file]: Iterable<readonly [path: string, text: string]>): string | undefined {
  const parsed = file && parseSideFile(...file);
  return parsed && 'value' in parsed && 'name' in parsed.value ? parsed.value.name : undefined;
}

/** Checks what a proposal makes of its files, and who sends it. */
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

/** Returns the open proposal, which is to be at this version. @throws {ProposalError} gone, changed */
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

/** @param lastDay the versions that the account has sent in the last day @throws {ProposalError} new-account, too-many-sent */
export function ensureMaySend(
  { accountCreatedAt = 0 }: SentProposal,
  { proposals: { minAccountAgeDays: days } }: CatalogueSettings,
  lastDay: number,
): void {
  if (Date.now() - accountCreatedAt < days * msPerDay) throw new ProposalError('new-account', { days });
  if (lastDay >= maxSentPerDay) throw new ProposalError('too-many-sent', { max: maxSentPerDay });
}

/** @param open the open proposals @throws {ProposalError} too-many-open, too-many-in-all */
export function ensureRoom(open: readonly Proposal[], account: AccountId): void {
  if (open.filter(({ proposer }) => proposer.id === account).length >= maxOpenPerAccount)
    throw new ProposalError('too-many-open', { max: maxOpenPerAccount });
  if (open.length >= maxOpen) throw new ProposalError('too-many-in-all', { max: maxOpen });
}

/** Refuses a note, or the pages of a proposal, that are too long. @throws {ProposalError} too-large */
export function ensureShort(note: string, pages: FileTexts = new Map()): void {
  const bytes = [...pages.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (note.length > maxNoteLength || bytes > maxProposalBytes)
    throw new ProposalError('too-large', { max: maxProposalBytes / 1024 });
}

export const msPerDay = 86_400_000;

/** Open proposals of an account, and of all. */
const maxOpenPerAccount = 5;
const maxOpen = 10_000;

/** Versions that an account sends in a day. */
const maxSentPerDay = 20;

/** Bytes of the pages of a proposal. */
const maxProposalBytes = 64 * 1024;
