import type { PageContent } from '../../schemas/types.ts';
import { BotshelfError } from '../lib/errors.ts';
import { parseAccountId, toOneLine, type AccountId } from '../bot/commit-message.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { botsFolder, folderOf, parsePagePath, type PagePlace } from '../catalogue/page/layout.ts';
import { type PageFile, parsePageFile } from '../catalogue/page/page-file.ts';
import type { BotIndex } from '../catalogue/store/bot-index.ts';
import {
  collectionsFolder,
  parseCollectionName,
  parseProfileName,
  peopleFolder,
} from '../catalogue/page/side-file.ts';
import { parseTree } from '../git/objects.ts';
import type { Repository } from '../git/repository.ts';

/** The subject of a proposal: a bot by its id, the profile of an account, or a collection. It is used in paths and refs. */
export type Subject = BotId | `profile-${string}` | `collection-${string}`;

/** Path relative to the catalogue's folder → text of the file. */
export type FileTexts = ReadonlyMap<string, string>;

/** Parses a subject; undefined if the text is not one. */
export function parseSubject(text: string): Subject | undefined {
  const [, kind, name = ''] = /^(profile|collection)-(.+)$/.exec(text) ?? [];
  if (kind === 'profile') return parseAccountId(name) && `profile-${name}`;
  if (kind === 'collection') return findSubject(`${collectionsFolder}/${name}.en.md`);
  return parseBotId(text);
}

/** Returns whether the token of a bot sent a proposal: the bot's id stands in place of an account. */
export function isSentByBot({ subject, proposer }: Pick<ProposalStep, 'subject' | 'proposer'>): boolean {
  return subject === String(proposer.id);
}

export function isBot(subject: Subject): subject is BotId {
  return parseBotId(subject) !== undefined;
}

/** Returns a function that tells whether an account is an author of a listed bot. */
export function createOwns(bots: Pick<BotIndex, 'get'>, account: AccountId): (bot: Subject) => boolean {
  return (bot) => bots.get(bot as BotId)?.facts.authors.includes(account) ?? false;
}

/** Returns the subject of the file at a path; undefined for files that cannot be proposed. */
export function findSubject(path: string, prefix = ''): Subject | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const [top, name = '', ...rest] = path.slice(prefix.length).split('/');
  if (top === botsFolder) return parsePagePath(path, prefix)?.id;
  if (rest.length > 0) return undefined;
  if (top === peopleFolder) return parseProfileName(name) && `profile-${parseProfileName(name)}`;
  const collection = top === collectionsFolder ? parseCollectionName(name) : undefined;
  return collection && `collection-${collection.name}`;
}

/** Returns the folder of a subject's files, relative to the catalogue's. */
export function toSubjectFolder(subject: Subject): string {
  if (isBot(subject)) return `${botsFolder}/${folderOf(subject)}`;
  return subject.startsWith('profile-') ? peopleFolder : collectionsFolder;
}

/** Returns the path of the page that shows a subject. */
export function toSubjectPath(subject: Subject): string {
  if (isBot(subject)) return `/bots/${subject}`;
  return subject.replace(/^profile-/, '/authors/').replace(/^collection-/, '/collections/');
}

/** Returns the path of the page on which its account, or the authors of the bot that sent it, follow a proposal. */
export function toProposalPath(proposal: Pick<ProposalStep, 'subject' | 'proposer'>): string {
  return `/proposals/${proposal.subject}${isSentByBot(proposal) ? '/bot' : ''}`;
}

/** Reads all files of a subject in a commit. @throws {GitError} */
export async function readFileTexts(
  { objects, hash, prefix }: Repository,
  commit: string,
  subject: Subject,
): Promise<FileTexts> {
  const folder = toSubjectFolder(subject);
  const tree = await objects.readOne(`${commit}:${prefix}${folder}`);
  const entries = tree?.type === 'tree' ? [...parseTree(tree.content, hash)] : [];
  const files = entries.flatMap(([name, { mode, id }]) => {
    const path = `${folder}/${name}`;
    return mode.startsWith('100') && findSubject(path) === subject ? [{ path, id }] : [];
  });
  const blobs = await objects.read(files.map(({ id }) => id));
  return new Map(files.map(({ path }, i) => [path, blobs[i]?.content.toString() ?? '']));
}

/**
 * The reason why nothing was changed.
 * - `off`: the catalogue does not accept such proposals.
 * - `blocked`: the account, or a part of the proposal, is blocked.
 * - `new-account`, `too-many-open`, `too-many-sent`, `too-many-in-all`, `too-large`: a limit, in `values`.
 * - `gone`: the proposal is no longer open: it was decided or withdrawn.
 * - `changed`: the proposal has another version than the caller saw.
 * - `conflict`: the branch has changed the same keys, in `values.fields`: of the front matter, `page` or `file`.
 * - `unchanged`: the branch already has all changes, or a bot sent the same before, whose `values.state` stands.
 * - `faulty`: the result would break the rule in `values.fault`.
 * - `not-maintainer`: the account may not review.
 */
export type ProposalErrorKind =
  | 'off'
  | 'blocked'
  | 'new-account'
  | 'too-many-open'
  | 'too-many-sent'
  | 'too-many-in-all'
  | 'too-large'
  | 'unchanged'
  | 'gone'
  | 'changed'
  | 'conflict'
  | 'faulty'
  | 'not-maintainer';

/** A proposal was not sent, withdrawn or decided. Nothing has changed. */
export class ProposalError extends BotshelfError {
  readonly kind: ProposalErrorKind;
  /** The values of the message to the reader. */
  readonly values: Readonly<Record<string, string | number>>;

  constructor(kind: ProposalErrorKind, values: Readonly<Record<string, string | number>> = {}) {
    super('proposal-refused', `the proposal cannot be changed (${kind}): ${JSON.stringify(values)}`);
    this.name = 'ProposalError';
    this.kind = kind;
    this.values = values;
  }
}

/** The state of a proposal. The last three states end it. */
type ProposalState = (typeof states)[number];

/** All states, from weak to strong. If two machines have set different ones, the stronger one wins. */
export const states = ['waiting', 'changes-asked', 'withdrawn', 'declined', 'accepted'] as const;

/** An account with its name at the time of the login. */
export interface Person {
  readonly id: AccountId;
  readonly name: string;
}

/** The content of a commit's message: the new state of the proposal, and the account that caused it. */
export interface ProposalStep {
  readonly subject: Subject;
  readonly proposer: Person;
  readonly state: ProposalState;
  /** The commit of the branch that the files of the proposal change. */
  readonly base: string;
  /** When the files were last sent, in milliseconds since the epoch. */
  readonly sentAt: number;
  /** When the files were first sent, which is the place in the queue; left out if they were sent once. */
  readonly queuedAt?: number;
  /** The number of decisions that were taken back; left out for none. */
  readonly takenBack?: number;
  /** The account that decided, or took a decision back; null for a step of the proposer or of the service. */
  readonly reviewer: Person | null;
  /** The reason for declining: a built-in one, or a text of the settings. */
  readonly reason: string | null;
  /** The commit that added an accepted proposal to the branch; null if the branch got the changes in another way. */
  readonly commit: string | null;
  /** The note to the reviewers, or the text of the reviewer. Not trusted. */
  readonly text: string;
}

/** Returns whether a step is a submission of files. Taking back a decision leads to the same state, but has a reviewer. */
export function isSubmission({ state, reviewer }: ProposalStep): boolean {
  return state === 'waiting' && reviewer === null;
}

/** Returns when a proposal was first sent, in milliseconds since the epoch; this is its place in the queue. */
export function toQueueTime({ queuedAt, sentAt }: ProposalStep): number {
  return queuedAt ?? sentAt;
}

/** Returns whether an account may take back the last decision: its own, within a minute. */
export function canTakeBack({ state, reviewer, at }: Proposal, account: string): boolean {
  return isRefusal(state) && reviewer?.id === account && Date.now() - at < takeBackMs;
}

/** Returns whether a state is a decision that can be taken back. */
export function isRefusal(state: ProposalState): boolean {
  return state === 'declined' || state === 'changes-asked';
}

const takeBackMs = 60_000;

/** A step with its time. */
export interface PastStep extends ProposalStep {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The current state of a proposal, which is one account's change of one subject: its last step. */
export interface Proposal extends PastStep {
  readonly ref: string;
  /** The commit of the ref, which a decision must name. */
  readonly version: string;
  /** When the proposal ended, in milliseconds since the epoch; null while it is open. */
  readonly closedAt: number | null;
}

export const openPrefix = 'refs/botshelf/proposals/';
export const closedPrefix = 'refs/botshelf/closed/';

/** Returns the ref of an open proposal. Its only part that users choose is the name of a collection: some plain characters. */
export function formatOpenRef(subject: Subject, account: AccountId): string {
  return `${openPrefix}${subject}/${account}`;
}

/** Returns the ref of a closed proposal. @param at milliseconds since the epoch */
export function formatClosedRef(subject: Subject, account: AccountId, at: number): string {
  return `${closedPrefix}${subject}/${account}/${at}`;
}

/** The content of a ref's name. */
interface ProposalRef {
  readonly subject: Subject;
  readonly account: AccountId;
  /** Null for an open proposal. */
  readonly closedAt: number | null;
}

/** Parses the name of a ref; undefined if it is not a proposal's, or names the profile of another account. */
export function parseProposalRef(ref: string): ProposalRef | undefined {
  const [, open, about = '', account = '', time] =
    /^refs\/botshelf\/(?:(proposals)|closed)\/([a-z0-9-]+)\/([0-9]+)(?:\/([0-9]{13}))?$/.exec(ref) ?? [];
  const [subject, accountId] = [parseSubject(about), parseAccountId(account)];
  if (subject === undefined || accountId === undefined || (open === undefined) !== (time !== undefined))
    return undefined;
  if (subject.startsWith('profile-') && subject !== `profile-${accountId}`) return undefined;
  return { subject, account: accountId, closedAt: time === undefined ? null : Number(time) };
}

/** Formats a step as the message of a commit. The last paragraph has the trailers, so no text can forge one. */
export function formatStep(step: ProposalStep): string {
  const { subject, proposer, state, base, sentAt, queuedAt, takenBack, reviewer, reason, commit, text } =
    step;
  const trailers = {
    Subject: subject,
    'Proposed-by': proposer.id,
    Name: proposer.name,
    State: state,
    Base: base,
    Sent: new Date(sentAt).toISOString(),
    Queued: queuedAt === undefined ? null : new Date(queuedAt).toISOString(),
    'Taken-back': takenBack === undefined ? null : String(takenBack),
    'Reviewed-by': reviewer && `${reviewer.id} ${reviewer.name}`,
    Reason: reason,
    Commit: commit,
  };
  const lines = Object.entries(trailers).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${toOneLine(value, maxLineLength)}`],
  );
  const words = text.trim() === '' ? [] : [toText(text), ''];
  return [`${titles[state]} ${subject}`, '', ...words, ...lines, ''].join('\n');
}

const titles: Readonly<Record<ProposalState, string>> = {
  waiting: 'Propose a change of',
  'changes-asked': 'Ask for changes of the proposal for',
  withdrawn: 'Withdraw the proposal for',
  declined: 'Decline the proposal for',
  accepted: 'Accept the proposal for',
};

/**
 * Parses the message of a commit; undefined if it is not a step of a proposal. Names and texts are cut like those of
 * forms, because anything may have been pushed.
 */
export function parseStep(message: string): ProposalStep | undefined {
  if (message.length > maxStepLength) return undefined;
  const paragraphs = message.trimEnd().split('\n\n');
  const trailers = new Map(
    (paragraphs.at(-1) ?? '').split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  const read = (name: string): string => trailers.get(name) ?? '';
  const subject = parseSubject(read('Subject'));
  const proposer = parsePerson(`${read('Proposed-by')} ${read('Name')}`);
  const state = states.find((known) => known === trailers.get('State'));
  const sentAt = Date.parse(read('Sent'));
  if (subject === undefined || proposer === null || state === undefined) return undefined;
  if (Number.isNaN(sentAt) || !commitId.test(read('Base'))) return undefined;
  const queuedAt = Date.parse(read('Queued'));
  const [takenBack] = /^[1-9]\d{0,8}$/.exec(read('Taken-back')) ?? [];
  const commit = trailers.get('Commit');
  return {
    subject,
    proposer,
    state,
    base: read('Base'),
    sentAt,
    ...(!Number.isNaN(queuedAt) && { queuedAt }),
    ...(takenBack !== undefined && { takenBack: Number(takenBack) }),
    reviewer: parsePerson(read('Reviewed-by')),
    reason: trailers.has('Reason') ? toOneLine(read('Reason'), maxLineLength) : null,
    commit: commit !== undefined && commitId.test(commit) ? commit : null,
    text: toText(paragraphs.slice(1, -1).join('\n\n')),
  };
}

/** Names, a note and a reason have a few thousand characters, but a ref may have any message. */
const maxStepLength = 64 * 1024;

const commitId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

function parsePerson(text: string): Person | null {
  const [first = '', ...name] = text.split(' ');
  const id = parseAccountId(first);
  return id === undefined ? null : { id, name: toOneLine(name.join(' '), maxLineLength) };
}

/** Cuts a text of several lines to `maxNoteLength`, in the form that a commit message stores. */
export function toText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .trim()
    .slice(0, maxNoteLength);
}

/** UTF-16 units. */
const maxLineLength = 200;

/** UTF-16 units of the note to the reviewers, and of the text of a reviewer. */
export const maxNoteLength = 1000;

/** Parses the pages of a bot. */
export function parsePages(texts: FileTexts): (PageFile & PagePlace)[] {
  return [...texts].map(([path, text]) => parsePageFile(parsePagePath(path) as PagePlace, Buffer.from(text)));
}

/** A submission of an account. */
export interface SentProposal {
  readonly subject: Subject;
  readonly proposer: Person;
  /** The changed files. Files that were sent before and are not included stay part of the proposal. */
  readonly pages: FileTexts;
  readonly note: string;
  /** When the account was created, in milliseconds since the epoch, if the provider says so. */
  readonly accountCreatedAt?: number | undefined;
  /** Whether the account is an author of a listed bot; if not, its profile is reviewed. */
  readonly isAuthor?: boolean;
  /** When the proposal was sent, in milliseconds since the epoch; now by default. */
  readonly sentAt?: number;
}

/** A page that the token of a bot sends. */
export interface SentPage extends PagePlace, Readonly<PageContent> {
  /** The name of the bot. */
  readonly name: string;
}

/** The treatment of a proposal: it is reviewed, published immediately, or refused. */
export type ProposalPolicy = 'review' | 'publish' | 'off';

/** The problem of a machine that cannot push or fetch proposals. */
export const notShared = 'proposals are not shared with the other machines';
