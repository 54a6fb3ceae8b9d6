import { isDeepStrictEqual } from 'node:util';
import { isSameInvite } from '../bot/invite.ts';
import { compareFaults, type Fault } from '../catalogue/page/fault.ts';
import type { PageFile } from '../catalogue/page/page-file.ts';
import { checkFiles, type PageLimits } from '../catalogue/page/rules.ts';
import { type Blocked, nothingBlocked } from '../catalogue/settings/blocked.ts';
import { checkBlocked } from './blocked-rule.ts';
import { checkBotChange, findMainPage } from './change-rules.ts';
import { type Finding, toErrorFinding } from './check.ts';

/**
 * Checks a proposal: the files of a bot against every rule, and the change itself against the rules about changes. A fault
 * that a file of this path had before is left out, because the proposal did not bring it, but not what is blocked.
 * @param before all page files of the bot in the branch; none for a new bot
 * @param after all page files of the bot as they would be
 * @param showsReasons whether it says why something is blocked
 * @returns by path, then by line and column
 */
export function checkProposal(
  before: readonly PageFile[],
  after: readonly PageFile[],
  limits: PageLimits,
  blocked: Blocked = nothingBlocked,
  showsReasons = true,
): readonly Finding[] {
  const known = new Set(checkFiles(before, limits).faults.map(toFaultKey));
  const added = checkFiles(after, limits).faults.filter((fault) => !known.has(toFaultKey(fault)));
  const faults = [...added, ...checkBlocked(after, blocked, showsReasons)];
  return [...faults.map(toErrorFinding), ...checkBotChange(before, after)].toSorted(compareFaults);
}

/** What a reviewer decides even where authors may change their bots without a review. */
export type ReviewedKey = 'authors' | 'verified' | 'legacy' | 'nsfw' | 'invite';

/**
 * Returns the changes of a bot's main page that are always reviewed: `authors`, `verified`, `legacy`, `nsfw` from true to
 * false, and an `invite` that adds another bot, asks for other permissions or has another parameter. None for a new bot,
 * which has a policy of its own. A page that cannot be read has no values.
 * @param before as of `checkProposal`
 */
export function findReviewedChanges(
  before: readonly PageFile[],
  after: readonly PageFile[],
): readonly ReviewedKey[] {
  if (before.length === 0) return [];
  const [was = {}, now = {}] = [before, after].map((files) => findMainPage(files)?.page?.data);
  return (Object.keys(isReviewed) as ReviewedKey[]).filter((key) => isReviewed[key](was[key], now[key]));
}

type IsReviewed = (before: unknown, now: unknown) => boolean;

const isOtherFlag: IsReviewed = (before = false, now = false) => before !== now;

const isReviewed: Readonly<Record<ReviewedKey, IsReviewed>> = {
  authors: (before, now) => !isDeepStrictEqual(withoutOrder(before), withoutOrder(now)),
  verified: isOtherFlag,
  legacy: isOtherFlag,
  nsfw: (before, now) => before === true && now !== true,
  invite: (before, now) => !isSameInvite(String(before), String(now)),
};

function withoutOrder(value: unknown): unknown {
  return Array.isArray(value) ? new Set(value) : value;
}

function toFaultKey({ path, rule, message }: Fault): string {
  return `${path}\n${rule}\n${message}`;
}
