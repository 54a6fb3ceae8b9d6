import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { createProposalNotice, toWebhookBody } from '../../src/proposals/notifications.ts';
import type { Proposal } from '../../src/proposals/proposal.ts';
import { author, maintainer } from '../support/proposals.ts';
import { accountId, botId } from '../support/sample.ts';

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
  at: 0,
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

  it('says that the bot itself sent its page, and leads its authors to the answer', () => {
    const own = { ...sent, proposer: { id: accountId('7'), name: 'Homer' } };
    strictEqual(
      createProposalNotice(own, base, true)?.title,
      'The bot Homer (7) itself proposes a change of its page',
    );
    const asked = { ...own, state: 'changes-asked', reviewer: maintainer } as const;
    strictEqual(createProposalNotice(asked, base, true)?.url, `${base}/proposals/7/bot`);
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

  it('names a profile and a collection by their pages', () => {
    const notice = createProposalNotice({ ...sent, subject: 'profile-5', state: 'accepted' }, base, true);
    match(notice?.title ?? '', /for \/authors\/5$/);
    strictEqual(notice?.url, `${base}/authors/5`);
    const asked = { ...sent, subject: 'collection-fun', state: 'changes-asked', text: '' } as const;
    const { title, text, url } = createProposalNotice(asked, base, true) ?? {};
    match(title ?? '', /^Changes asked for: the proposal of .* for \/collections\/fun$/);
    deepStrictEqual([text, url], ['', `${base}/proposals/collection-fun`]);
  });

  it('is none where it was withdrawn', () => {
    strictEqual(createProposalNotice({ ...sent, state: 'withdrawn' }, base, true), null);
  });
});

describe('the body of a notice for a webhook', () => {
  const bodyOf = (title: string, text: string): unknown =>
    JSON.parse(toWebhookBody({ kind: 'fault', title, text, url: `${base}/x`, at: 0 }));

  it('has it for Discord, and as it is', () => {
    const title = 'a_b \n c';
    deepStrictEqual(bodyOf(title, ''), {
      content: `a\\_b c\n<${base}/x>`,
      embeds: [{ title: 'a\\_b c', url: `${base}/x`, timestamp: '1970-01-01T00:00:00.000Z' }],
      allowed_mentions: { parse: [] },
      botshelf: { kind: 'fault', title, text: '', url: `${base}/x`, at: 0 },
    });
  });

  it('escapes every mark, and cuts before one and not within it', () => {
    const marks = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
    const { embeds, botshelf } = bodyOf(`${marks} aZ09é`, `${'x'.repeat(4094)}_x`) as {
      readonly embeds: readonly [{ readonly title: string; readonly description: string }];
      readonly botshelf: { readonly text: string };
    };
    strictEqual(embeds[0].title, `${marks.replaceAll(/./g, '\\$&')} aZ09é`);
    strictEqual(embeds[0].description, `${'x'.repeat(4094)}…`);
    strictEqual(botshelf.text.length, 4096);
  });

  it('has no mention and no link of the text’s own, within the limits of Discord', () => {
    const title = `[Log in](https://evil.example) @everyone\n**${'x'.repeat(300)}`;
    const { content, embeds } = bodyOf(title, `<@1> discord.gg/a ${'_'.repeat(5000)}😀`) as {
      readonly content: string;
      readonly embeds: readonly [{ readonly title: string; readonly description: string }];
    };
    match(content, /^\\\[Log in\\\]\\\(https\\:\\\/\\\/evil\\\.example\\\) \\@everyone \\\*\\\*x+…\n</);
    ok(content.length <= 2000 && embeds[0].title.length <= 256);
    match(embeds[0].description, /^\\<\\@1\\> discord\\\.gg\\\/a (?:\\_)+…$/);
    ok(embeds[0].description.length <= 4096);
  });
});
