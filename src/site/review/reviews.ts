import type { BotRecord } from '../../bot/schema-types.ts';
import { noLimits } from '../../catalogue/page/rules.ts';
import { parseRecord } from '../../catalogue/store/bot-index.ts';
import { readBot } from '../../catalogue/store/bot-reader.ts';
import type { Finding } from '../../check/check.ts';
import { CurrentCache } from '../../lib/current-cache.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { parsePages } from '../../proposals/merge-proposal.ts';
import type { Proposal } from '../../proposals/proposal.ts';
import type { ProposalDetails, Proposals } from '../../proposals/proposals.ts';
import { diffWords } from '../add/file-diff.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { compareInvites, comparePages, type InviteChange, type PageChange, readMainData } from './changes.ts';
import type { RelatedBots } from './related.ts';

/** All that a reviewer sees of a proposal, but for the rendered pages. */
export interface Review {
  readonly details: ProposalDetails;
  /** The bot's name as proposed. */
  readonly name: string;
  readonly kind: 'new' | 'edit' | 'translation';
  readonly pages: readonly PageChange[];
  readonly invite: InviteChange;
  /** What the checker finds, the errors first. */
  readonly findings: readonly {
    readonly severity: Finding['severity'];
    readonly faults: readonly Finding[];
  }[];
  /** The bot as it is and as proposed; undefined where there is none, or its files are faulty. */
  readonly before: BotRecord | undefined;
  readonly after: BotRecord | undefined;
  /** Set once the bots were searched. */
  related?: Promise<RelatedBots>;
}

/** Returns a function that compares a proposal with the branch: once for each version of it and commit of the branch. */
export function createReviewReader(proposals: Proposals): (proposal: Proposal) => Promise<Review> {
  const kept = new CurrentCache<Review>(maxBytes, estimateBytes);
  return async (proposal) => {
    const key = `${proposal.version} ${await proposals.readTip()}`;
    return await kept.get(key, [], async () => {
      const details = await proposals.read(proposal);
      await new TimeSlice().next();
      return compare(details);
    });
  };
}

const maxBytes = 32 * 1024 * 1024;

/** Counts the texts as often as they are in a review. */
function estimateBytes({ details: { before, changed }, pages }: Review): number {
  const fields = pages.flatMap((page) => page.fields).length;
  return [...before.values(), ...changed.values()].join('').length * 8 + fields * 500 + 5000;
}

function compare(details: ProposalDetails): Review {
  const { before, changed, proposal } = details;
  const [files, proposed] = [parsePages(before), parsePages(new Map([...before, ...changed]))];
  const { name } = readMainData(proposed);
  const pages = comparePages(files, parsePages(changed));
  const isTranslation = pages.length > 0 && pages.every(({ isNew }) => isNew);
  const [was, now] = [files, proposed].map((all) => readBot(proposal.bot, all, undefined, noLimits).bot);
  const findings = (['error', 'warning', 'notice'] as const).map((severity) => {
    return { severity, faults: details.findings.filter((finding) => finding.severity === severity) };
  });
  return {
    details,
    name: withoutBidiControls(typeof name === 'string' ? name : proposal.bot),
    kind: before.size === 0 ? 'new' : isTranslation ? 'translation' : 'edit',
    pages,
    invite: compareInvites(files, proposed),
    findings: findings.filter(({ faults }) => faults.length > 0),
    before: was && parseRecord(was),
    after: now && parseRecord(now),
  };
}

/** Compares the words of each field, one slice of time after the other, where that was not done. */
export async function compareWords({ pages }: Review): Promise<void> {
  const slice = new TimeSlice();
  const end = performance.now() + maxWordsMs;
  for (const field of pages.flatMap(({ fields }) => fields)) {
    if (field.words !== undefined) continue;
    await slice.next();
    field.words = performance.now() < end ? diffWords(field.before, field.after) : null;
  }
}

/** Milliseconds in which the words of a proposal are compared. */
const maxWordsMs = 500;
