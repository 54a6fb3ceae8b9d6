import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { createProposalNotice } from '../../src/proposals/notice.ts';
import type { Proposal } from '../../src/proposals/proposal.ts';
import { author, maintainer } from '../support/proposals.ts';
import { botId } from '../support/sample.ts';

const base = 'https://bots.example.org';
const sent: Proposal = {
  subject: botId('7'),
  proposer: author,
  state: 'waiting',
  base: 'a'.repeat(40),
  sentAt: 0,
  reviewer: null,
  reason: null,
  commit: null,
  text: 'Try /donut.',
  ref: 'refs/botshelf/proposals/7/1',
  version: 'b'.repeat(40),
  closedAt: null,
};

describe('the notice of a step of a proposal', () => {
  it('leads reviewers to what was sent', () => {
    const { kind, title, text, url } = createProposalNotice(sent, base, true) ?? {};
    deepStrictEqual(
      [kind, title, text, url],
      [
        'proposal',
        `Homer Simpson (${author.id}) proposes a change of the bot 7`,
        'Try /donut.',
        `${base}/review/7/${author.id}`,
      ],
    );
    strictEqual(createProposalNotice(sent, base, false)?.url, `${base}/review`);
  });

  it('says who decided, why, and leads to the result', () => {
    const declined = {
      ...sent,
      state: 'declined',
      reviewer: maintainer,
      reason: 'duplicate',
      text: 'See 8.',
    } as const;
    const { kind, title, text, url } = createProposalNotice(declined, base, true) ?? {};
    const from = 'the proposal of Homer Simpson for the bot 7';
    deepStrictEqual(
      [kind, title, text, url],
      ['decision', `Declined by Marge: ${from}`, 'duplicate\nSee 8.', `${base}/proposals/7`],
    );
    const published = createProposalNotice({ ...sent, state: 'accepted' }, base, true);
    deepStrictEqual([published?.title, published?.url], [`Accepted: ${from}`, `${base}/bots/7`]);
  });

  it('is none where it was withdrawn', () => {
    strictEqual(createProposalNotice({ ...sent, state: 'withdrawn' }, base, true), null);
  });
});
