import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { createProposalNotice, toWebhookBody } from '../../src/proposals/notifications.ts';
import type { Proposal } from '../../src/proposals/proposal.ts';
import { readCases } from '../support/fixture-lines.ts';
import { author } from '../support/proposals.ts';
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
  at: 0,
};

describe('the notice of a step of a proposal', () => {
  for (const { title, input, expected } of readCases('notices'))
    it(title, () => {
      const changes = JSON.parse(input) as Partial<Proposal>;
      const notice = createProposalNotice({ ...sent, ...changes }, base, true);
      const { kind, title, text = '', url = '' } = notice ?? {};
      const lines = notice ? [`${kind}: ${title}`, ...text.split('\n'), url.replace(base, '')] : [];
      deepStrictEqual(lines.filter(Boolean), expected);
    });

  it('leads to the list of proposals where the pages need no login', () =>
    strictEqual(createProposalNotice(sent, base, false)?.url, `${base}/review`));
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
