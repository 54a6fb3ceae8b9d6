import { msPerDay, msPerHour } from '../bot/clock.ts';
import type { AccountId } from '../bot/commit-message.ts';
import { formatOpenRef, isSentByBot, type Proposal, type Subject, toQueueTime } from './proposal.ts';

/** The proposals of this clone, open and closed, in memory. Times are in milliseconds since the epoch. */
export class ProposalList {
  /** Ref → proposal. */
  readonly #proposals = new Map<string, Proposal>();
  #open: readonly Proposal[] | undefined;

  /** The open proposals, in the order of their first submission. */
  get open(): readonly Proposal[] {
    this.#open ??= this.all
      .filter(({ closedAt }) => closedAt === null)
      .toSorted((a, b) => toQueueTime(a) - toQueueTime(b));
    return this.#open;
  }

  /** The open proposals that wait for a decision. */
  get waiting(): readonly Proposal[] {
    return this.open.filter(({ state }) => state === 'waiting');
  }

  get(ref: string): Proposal | undefined {
    return this.#proposals.get(ref);
  }

  /** Returns the open proposal of an account for a subject. */
  find(subject: Subject, account: AccountId): Proposal | undefined {
    return this.get(formatOpenRef(subject, account));
  }

  /** Returns the open proposal of an account for a subject, or else the last closed one. */
  findLast(subject: Subject, account: AccountId): Proposal | undefined {
    return (
      this.find(subject, account) ?? this.listOf(account).find((proposal) => proposal.subject === subject)
    );
  }

  /**
   * Returns the proposals of an account, and those that its bots sent themselves; open and closed, latest submission
   * first.
   * @param owns whether the account is an author of a bot
   */
  listOf(account: AccountId, owns: (bot: Subject) => boolean = () => false): readonly Proposal[] {
    return this.all
      .filter((one) => one.proposer.id === account || (isSentByBot(one) && owns(one.subject)))
      .toSorted((a, b) => b.sentAt - a.sentAt || (a.ref < b.ref ? 1 : -1));
  }

  /** Returns the proposals of an account and its bots that were decided by others after a time. */
  listAnswered(account: AccountId, time: number, owns: (bot: Subject) => boolean): readonly Proposal[] {
    return this.listOf(account, owns).filter((proposal) => isAnswered(proposal) && proposal.at > time);
  }

  /** Returns the proposals decided in the last 90 days, latest decision first. */
  listDecided(): readonly Proposal[] {
    return this.all.filter(isAnswered).toSorted((a, b) => b.at - a.at);
  }

  /** Returns the proposals that were closed after a time. */
  listClosedSince(time: number): readonly Proposal[] {
    return this.all.filter(({ closedAt }) => closedAt !== null && closedAt > time);
  }

  /**
   * Returns the median time from the first submission to the decision in the last 30 days, in whole hours as
   * milliseconds; undefined for fewer than five decisions.
   */
  medianWaitMs(): number | undefined {
    const waits = this.listClosedSince(Date.now() - 30 * msPerDay)
      .filter(({ state, reviewer }) => state !== 'withdrawn' && reviewer !== null)
      .map((proposal) => (proposal.closedAt ?? 0) - toQueueTime(proposal))
      .toSorted((a, b) => a - b);
    if (waits.length < minDecisions) return undefined;
    const median = waits[Math.floor(waits.length / 2)] ?? 0;
    return Math.max(Math.ceil(median / msPerHour), 1) * msPerHour;
  }

  protected get all(): Proposal[] {
    return [...this.#proposals.values()];
  }

  /** @param proposal undefined to delete the ref */
  protected set(ref: string, proposal: Proposal | undefined): void {
    if (proposal === undefined) this.#proposals.delete(ref);
    else this.#proposals.set(ref, proposal);
    this.#open = undefined;
  }
}

function isAnswered({ state }: Proposal): boolean {
  return state !== 'waiting' && state !== 'withdrawn';
}

/** Fewer decisions do not predict the next one. */
const minDecisions = 5;
