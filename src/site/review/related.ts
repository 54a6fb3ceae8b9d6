import { toInviteKey, toNameKey } from '../../bot/likeness.ts';
import { type BotIndex, type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import type { Proposal } from '../../proposals/proposal.ts';

/** Listed bots that a reviewer compares a proposal with. */
export interface RelatedBots {
  /** Other bots of this name, as people read it, or that the same invite link adds. */
  readonly similar: readonly IndexedBot[];
  /** Other bots that name the proposer as an author. */
  readonly ofProposer: readonly IndexedBot[];
}

/** Finds the bots to compare a proposal with, in one pass over all bots. @param name,invite as proposed */
export async function findRelated(
  bots: Pick<BotIndex, 'sorted'>,
  { subject, proposer }: Pick<Proposal, 'subject' | 'proposer'>,
  name: string,
  invite: string,
): Promise<RelatedBots> {
  const [nameKey, inviteKey] = [toNameKey(name), toInviteKey(invite)];
  // Only records with these bytes are parsed: few, unless the invite is made for that.
  const mark = /client_id=\d+/.exec(invite)?.[0] ?? (URL.canParse(invite) ? new URL(invite).hostname : '');
  const hasInvite = (bot: IndexedBot): boolean =>
    inviteKey !== undefined &&
    bot.record.includes(mark) &&
    toInviteKey(parseListElement(bot).invite) === inviteKey;
  const [similar, ofProposer]: [IndexedBot[], IndexedBot[]] = [[], []];
  await forEachInSlices(await bots.sorted(), (bot) => {
    const { id, facts } = bot;
    if (id === subject) return;
    if (toNameKey(facts.name) === nameKey || hasInvite(bot)) similar.push(bot);
    if (facts.authors.includes(proposer.id)) ofProposer.push(bot);
  });
  return { similar: similar.slice(0, maxRelated), ofProposer: ofProposer.slice(0, maxRelated) };
}

const maxRelated = 10;
