import { toInviteKey, toNameKey } from '../../bot/likeness.ts';
import { type BotIndex, type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { type Current, CurrentCache } from '../../lib/current-cache.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import type { Proposal } from '../../proposals/proposal.ts';

/** Listed bots that a reviewer compares a proposal with. */
export interface RelatedBots {
  /** Other bots of this name, as people read it, or that the same invite link adds. */
  readonly similar: readonly IndexedBot[];
  /** Other bots that name the proposer as an author. */
  readonly ofProposer: readonly IndexedBot[];
}

/** Returns a function that finds the bots of a proposal in one pass over all bots, and again some time after one changed. */
export function createRelatedReader(
  bots: BotIndex,
): (proposal: Proposal, name: string, invite: string) => Promise<RelatedBots & Current> {
  const kept = new CurrentCache<RelatedBots>(1024 * 1024, () => 1000, minRebuildRatio);
  return async (proposal, name, invite) => {
    const find = async (): Promise<RelatedBots> => await findRelated(bots, proposal, name, invite);
    return await kept.get(proposal.version, [() => bots.version], find);
  };
}

/** The time between passes for a proposal is at least this many times that of one. */
const minRebuildRatio = 200;

const maxRelated = 10;

async function findRelated(
  bots: BotIndex,
  { bot: own, proposer }: Proposal,
  name: string,
  invite: string,
): Promise<RelatedBots> {
  const [nameKey, inviteKey] = [toNameKey(name), toInviteKey(invite)];
  // Only records with these bytes are parsed: few, unless the invite is made for that.
  const mark = /client_id=\d+/.exec(invite)?.[0] ?? (URL.canParse(invite) ? new URL(invite).hostname : '');
  const similar: IndexedBot[] = [];
  const ofProposer: IndexedBot[] = [];
  await forEachInSlices(await bots.sorted(), (bot) => {
    const { id, facts, record } = bot;
    if (id === own) return;
    const isAlike =
      toNameKey(facts.name) === nameKey ||
      (inviteKey !== undefined &&
        record.includes(mark) &&
        toInviteKey(parseListElement(bot).invite) === inviteKey);
    if (isAlike && similar.length < maxRelated) similar.push(bot);
    if (facts.authors.includes(proposer.id) && ofProposer.length < maxRelated) ofProposer.push(bot);
  });
  return { similar, ofProposer };
}
