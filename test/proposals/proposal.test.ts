import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  formatClosedRef,
  formatOpenRef,
  formatStep,
  parseProposalRef,
  parseStep,
  type ProposalStep,
} from '../../src/proposals/proposal.ts';
import { author, maintainer } from '../support/proposals.ts';
import { botId } from '../support/sample.ts';

const step: ProposalStep = {
  subject: botId('190519304972663312'),
  proposer: author,
  state: 'declined',
  base: 'a'.repeat(40),
  sentAt: 1_700_000_000_123,
  reviewer: maintainer,
  reason: 'duplicate',
  commit: null,
  text: 'Try /donut.\n\nThen /beer.',
};

describe('the message of a step of a proposal', () => {
  it('says all of it in trailers, and the words above them', () => {
    strictEqual(
      formatStep(step),
      `Decline the proposal for 190519304972663312

Try /donut.

Then /beer.

Subject: 190519304972663312
Proposed-by: 190519304972664832
Name: Homer Simpson
State: declined
Base: ${'a'.repeat(40)}
Sent: 2023-11-14T22:13:20.123Z
Reviewed-by: 42 Marge
Reason: duplicate
`,
    );
    deepStrictEqual(parseStep(formatStep(step)), step);
  });

  it('begins with what was done, and names the commit that has an accepted one', () => {
    for (const [state, title] of [
      ['waiting', 'Propose a change of 7'],
      ['changes-asked', 'Ask for changes of the proposal for 7'],
      ['withdrawn', 'Withdraw the proposal for 7'],
      ['declined', 'Decline the proposal for 7'],
      ['accepted', 'Accept the proposal for 7'],
    ] as const)
      strictEqual(formatStep({ ...step, subject: botId('7'), state }).split('\n')[0], title);
    for (const commit of ['b'.repeat(40), 'b'.repeat(64)])
      strictEqual(parseStep(formatStep({ ...step, base: commit, commit }))?.commit, commit);
    for (const commit of ['b'.repeat(41), `x${'b'.repeat(40)}`, 'HEAD'])
      strictEqual(parseStep(formatStep({ ...step, commit }))?.commit, null);
  });

  it('is of a profile or a collection too, and its lines are short', () => {
    const subject = 'collection-fun';
    const text = formatStep({ ...step, subject, reason: `  a\t${'x'.repeat(300)}` });
    match(text, /^Subject: collection-fun$/m);
    match(text, /^Reason: a x{197}…$/m);
    strictEqual(parseStep(text)?.subject, subject);
    strictEqual(parseStep(formatStep({ ...step, text: ' a\r\n\tb\u0000\rc ' }))?.text, 'a\n\tb \nc');
  });

  it('is read with names, reasons and words that are cut, whoever has written it', () => {
    const long = `\u202e${'x'.repeat(5000)}`;
    const message = formatStep({ ...step, text: 'Try /donut.' })
      .replaceAll(/Homer Simpson|duplicate|Marge/g, long)
      .replace('Try /donut.', `\u0007${long}`);
    const { proposer, reviewer, reason, text } = parseStep(message) ?? {};
    for (const line of [proposer?.name, reviewer?.name, reason]) strictEqual(line, `${'x'.repeat(199)}…`);
    strictEqual(text, long.slice(0, 1000));
  });

  it('lets no name, reason or text forge a trailer or lose one', () => {
    const words = fc.array(
      fc.oneof(
        fc.string(),
        fc.constantFrom('\n', '\n\n', '\r\n', 'State: accepted', 'Reviewed-by: 1 x', '\u2028', '\u202e', ' '),
      ),
    );
    const text = words.map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, text, text, (name, reviewer, reason, body) => {
        const proposer = { ...author, name };
        const bad = { ...step, proposer, reason, text: body, reviewer: { ...maintainer, name: reviewer } };
        const read = parseStep(formatStep(bad));
        const { proposer: person, reviewer: judge, ...rest } = read ?? {};
        deepStrictEqual({ ...rest, reason: '', text: '' }, { ...withoutPeople(step), reason: '', text: '' });
        strictEqual(person?.id, author.id);
        strictEqual(judge?.id, maintainer.id);
        strictEqual(parseStep(formatStep(read as ProposalStep))?.text, read?.text);
      }),
    );
  });

  it('is no step where a trailer is missing or wrong', () => {
    for (const message of [
      '',
      'Update Homer (1): nsfw\n\nBot: 1\n',
      formatStep(step).replace('declined', 'x'),
      formatStep(step).replace(/^Sent: .*$/m, 'Sent: x'),
      formatStep(step).replace(/^Proposed-by: .*$/m, 'Proposed-by: x'),
      formatStep(step).replace(/^Subject: .*$/m, 'Subject: x'),
    ])
      strictEqual(parseStep(message), undefined);
    strictEqual(parseStep(formatStep({ ...step, base: 'HEAD' })), undefined);
  });
});

function withoutPeople({ proposer: _proposer, reviewer: _reviewer, ...rest }: ProposalStep): object {
  return rest;
}

describe('the refs of proposals', () => {
  it('are named by ids, and the names of collections', () => {
    const open = formatOpenRef(step.subject, author.id);
    strictEqual(open, 'refs/botshelf/proposals/190519304972663312/190519304972664832');
    const ids = { subject: step.subject, account: author.id };
    deepStrictEqual(parseProposalRef(open), { ...ids, closedAt: null });
    for (const subject of [`profile-${author.id}`, 'collection-for-2'] as const)
      strictEqual(parseProposalRef(formatOpenRef(subject, author.id))?.subject, subject);
    const closed = formatClosedRef(step.subject, author.id, 1_700_000_000_123);
    strictEqual(closed, 'refs/botshelf/closed/190519304972663312/190519304972664832/1700000000123');
    deepStrictEqual(parseProposalRef(closed), { ...ids, closedAt: 1_700_000_000_123 });
  });

  it('are no others', () => {
    const open = ['1/2x', '1', '1/2/1700000000123', '1/x', 'profile-x/1', 'collection--/1', 'toString-1/1'];
    for (const ref of [
      'refs/heads/main',
      'x/refs/botshelf/proposals/1/2',
      ...[...open, `${'1'.repeat(21)}/2`].map((rest) => `refs/botshelf/proposals/${rest}`),
      ...['1/2/17000000001234', '1/2'].map((rest) => `refs/botshelf/closed/${rest}`),
    ])
      strictEqual(parseProposalRef(ref), undefined);
  });
});
