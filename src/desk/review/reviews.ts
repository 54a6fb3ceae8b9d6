import type { BotRecord } from '../../../schemas/types.ts';
import { toInviteKey, toNameKeys } from '../../bot/likeness.ts';
import type { BotId } from '../../bot/id.ts';
import { english, type Locale } from '../../bot/locale.ts';
import { listElement } from '../../bot/record.ts';
import {
  type ComparedFile,
  compareInvites,
  comparePages,
  type InviteChange,
  readMainData,
} from '../../catalogue/changes/bot-changes.ts';
import { findImages, parsePage } from '../../catalogue/page/page.ts';
import { noLimits } from '../../catalogue/page/rules.ts';
import { parseCollectionName } from '../../catalogue/page/side-file.ts';
import {
  parseRecord,
  type BotIndex,
  type IndexedBot,
  parseListElement,
  readBot,
} from '../../catalogue/store/bot-index.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import type { Finding } from '../../check/check.ts';
import { readStrictJson } from '../../lib/json.ts';
import { parseUrl } from '../../lib/network.ts';
import { TimeSlice, forEachInSlices } from '../../lib/time-slice.ts';
import { parsePages, type Proposal, type FileTexts, isBot } from '../../proposals/proposal.ts';
import type { ProposalDetails } from '../../proposals/proposals.ts';
import type { PreviewProps } from '../page/elements.tsx';
import { type ShownField, type ShownPageChange, toShownPages } from '../../site/changes/changed-fields.tsx';
import { listNamedAuthors, nameAccount } from '../../site/page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import type { DeskParts, ProposalParts } from '../page/desk-parts.ts';

/** The parts of a proposal that a reviewer sees, except for the rendered pages. */
export interface Review {
  readonly details: ProposalDetails;
  /** The proposed name of the bot. */
  readonly name: string;
  readonly kind: 'new' | 'edit' | 'translation';
  readonly pages: readonly ShownPageChange[];
  readonly invite: InviteChange;
  /** The findings of the checker, errors first. */
  readonly findings: readonly {
    readonly severity: Finding['severity'];
    readonly faults: readonly Finding[];
  }[];
  /** The bot before the change and as proposed; undefined if it does not exist or its files are faulty. */
  readonly before: BotRecord | undefined;
  readonly after: BotRecord | undefined;
  /** Set once the bots have been searched. */
  related?: Promise<RelatedBots>;
}

/** The reasons to look at a proposal closely, riskiest first; the last one is no reason. */
export const risks = [
  'administrator',
  'other-bot',
  'conflicts',
  'error',
  'warning',
  'harmful',
  'unknown-link',
  'notice',
  'none',
] as const;

/** Returns the first of the reasons that a proposal has. */
export function findRisk({ invite, details, findings }: Review): (typeof risks)[number] {
  if (invite.added.administrator) return 'administrator';
  if (invite.isOtherBot) return 'other-bot';
  if (details.conflicts.length > 0) return 'conflicts';
  const severity = findings[0]?.severity ?? 'none';
  if (severity === 'error' || severity === 'warning') return severity;
  if (invite.added.groups.some(({ isHarmful }) => isHarmful)) return 'harmful';
  return invite.isUnknown ? 'unknown-link' : severity;
}

/**
 * Returns a function that compares a proposal with the branch. With `sent`, it compares the proposal with the files it
 * was sent for, which also shows a merged one. Results are cached by version of the proposal and commit of the branch.
 */
export function createReviewReader(
  { proposals, authors, blocked, cache }: Pick<ProposalParts, 'proposals' | 'authors' | 'blocked' | 'cache'>,
  side: 'branch' | 'sent',
): (proposal: Proposal) => Promise<Review> {
  const keeping = { inputs: [() => blocked.current], isExact: true, sizeOf: estimateBytes };
  return async (proposal) => {
    const make = async (): Promise<Review> => {
      const details = await proposals.read(proposal);
      const { former, sent } = details;
      await new TimeSlice().next();
      if (side === 'branch') return compare(details, authors);
      return { ...compare({ ...details, before: former, changed: sent }, authors), details };
    };
    return await cache.get(`${side} ${proposal.version} ${await proposals.readTip()}`, make, keeping);
  };
}

/** Counts texts as often as a review contains them. */
function estimateBytes({ details: { before, changed }, pages }: Review): number {
  const fields = pages.flatMap((page) => page.fields).length;
  return [...before.values(), ...changed.values()].join('').length * 8 + fields * 500 + 5000;
}

function compare(details: ProposalDetails, authors: AuthorIndex): Review {
  const { before, changed, proposal } = details;
  const { subject } = proposal;
  const all = new Map([...before, ...changed]);
  const [files, proposed] = isBot(subject) ? [parsePages(before), parsePages(all)] : [[], []];
  const parse = isBot(subject) ? parsePages : parseOthers;
  const { name, title = name } = isBot(subject)
    ? readMainData(proposed)
    : (parseOthers(all)[0]?.page?.data ?? {});
  const former = parse(before).filter(({ path }) => changed.has(path));
  const shown = toShownPages(comparePages(former, parse(changed)));
  const pages = shown.map((page) => ({
    ...page,
    fields: page.fields.map((field) => nameAuthors(field, proposal, authors)),
  }));
  const isTranslation = pages.length > 0 && pages.every(({ state }) => state === 'added');
  const [was, now] = [files, proposed].map((pages) =>
    isBot(subject) ? readBot(subject, pages, undefined, noLimits).bot : undefined,
  );
  const findings = (['error', 'warning', 'notice'] as const).map((severity) => {
    return { severity, faults: details.findings.filter((finding) => finding.severity === severity) };
  });
  return {
    details,
    name: withoutBidiControls(typeof title === 'string' ? title : subject),
    kind: before.size === 0 ? 'new' : isTranslation ? 'translation' : 'edit',
    pages,
    invite: compareInvites(files, proposed),
    findings: findings.filter(({ faults }) => faults.length > 0),
    before: was && parseRecord(was),
    after: now && parseRecord(now),
  };
}

/** Replaces the accounts of authors by their names; for the proposer, that of the login. */
function nameAuthors(field: ShownField, { proposer }: Proposal, authors: AuthorIndex): ShownField {
  if (field.name !== 'authors') return field;
  const [before = '', after = ''] = [field.before, field.after].map((text) =>
    text
      .split('\n')
      .map((account) =>
        account === proposer.id ? withoutBidiControls(proposer.name) : nameAccount(authors, account),
      )
      .join('\n'),
  );
  return { ...field, before, after };
}

/** Parses the files that do not belong to a bot. */
function parseOthers(texts: FileTexts): ComparedFile[] {
  return [...texts].map(([path, text]) => {
    const { locale = english } = parseCollectionName(path.slice(path.lastIndexOf('/') + 1)) ?? {};
    const read = path.endsWith('.json') ? readStrictJson(text, 'the file') : undefined;
    const data = read && ('data' in read ? { data: read.data, page: '' } : undefined);
    return { path, locale, page: data ?? parsePage(path, Buffer.from(text)).page };
  });
}

/**
 * Renders the current or proposed page of a bot; undefined if the bot or the page does not exist. Images come only
 * from our own copies.
 */
export async function renderPreview(
  { authors, bots, markdown }: DeskParts,
  record: BotRecord | undefined,
  locale: Locale,
  isProposed: boolean,
): Promise<PreviewProps | undefined> {
  const content = record?.contents[locale];
  if (record === undefined || content === undefined) return undefined;
  const { name, page } = content;
  const source = { text: page, name, images: findImages(page) };
  const html = isProposed ? await markdown.renderProposed(source) : (await markdown.render(source)).html;
  const indexed = bots.get(record.id as BotId);
  const listed = indexed && parseListElement(indexed);
  const isSame = listed?.images.avatar === record.images.avatar;
  const bot = listElement(isSame ? { ...record, cachedImages: listed.cachedImages } : record);
  const preview = { bot, locale, authors: listNamedAuthors(authors, record.authors) };
  return { preview, page, html };
}

/** Listed bots to compare with a proposal. */
export interface RelatedBots {
  /** Other bots with a name that looks the same, or with the same invite link. */
  readonly similar: readonly IndexedBot[];
  /** Other bots that name the proposer as an author. */
  readonly ofProposer: readonly IndexedBot[];
}

/** Finds the bots to compare with a proposal, in one pass over all bots. @param name,invite as proposed */
export async function findRelated(
  bots: Pick<BotIndex, 'sorted'>,
  { subject, proposer }: Pick<Proposal, 'subject' | 'proposer'>,
  name: string,
  invite: string,
): Promise<RelatedBots> {
  const [nameKeys, inviteKey] = [toNameKeys(name), toInviteKey(invite)];
  // Only records with these bytes are parsed. They are few, unless the invite was made to match many.
  const mark = /client_id=\d+/.exec(invite)?.[0] ?? parseUrl(invite)?.hostname ?? '';
  const hasInvite = (bot: IndexedBot): boolean =>
    inviteKey !== undefined &&
    bot.record.includes(mark) &&
    toInviteKey(parseListElement(bot).invite) === inviteKey;
  const [similar, ofProposer]: [IndexedBot[], IndexedBot[]] = [[], []];
  await forEachInSlices(await bots.sorted(), (bot) => {
    const { id, facts } = bot;
    if (id === subject) return;
    if (toNameKeys(facts.name).some((key) => nameKeys.includes(key)) || hasInvite(bot)) similar.push(bot);
    if (facts.authors.includes(proposer.id)) ofProposer.push(bot);
  });
  return { similar: similar.slice(0, maxRelated), ofProposer: ofProposer.slice(0, maxRelated) };
}

const maxRelated = 10;
