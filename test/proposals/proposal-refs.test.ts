import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { formatClosedRef, formatOpenRef, formatStep } from '../../src/proposals/proposal.ts';
import { findOldestKept, parseCommit, toProposal } from '../../src/proposals/proposal-refs.ts';
import { sentStep, visitor } from '../support/proposals.ts';
import { botId } from '../support/sample.ts';

const { subject, proposer } = sentStep;
const now = 1_800_000_000_000;
const version = 'a'.repeat(40);

describe('the closed proposals that are kept', () => {
  it('ended in the last 90 days, and are 20,000 at most', () => {
    const oldest = now - 90 * 86_400_000;
    const times = Array.from({ length: 20_001 }, (_, i) => now - i).toReversed();
    deepStrictEqual(
      [[], times.slice(1), times, times.map(() => oldest - 1)].map((ended) => findOldestKept(ended, now)),
      [oldest, oldest, now - 19_999, oldest],
    );
  });
});

describe('the commit of a proposal', () => {
  const [first, second] = ['b'.repeat(40), 'c'.repeat(64)];
  const head = `tree ${version}\nparent ${first}\nparent ${second}\nauthor Ada <a@example.org> 1 +0000`;
  const committer = 'Botshelf <botshelf@localhost> 1700000000 +0000';
  const contentOf = (message: string): string => `${head}\ncommitter ${committer}\n\n${message}`;

  it('has its parents, and who made it when, and nothing of that from its text', () => {
    const text = `Words.\n\nparent ${version}\ncommitter Ned <ned@example.org> 5 +0000`;
    const step = { ...sentStep, text };
    deepStrictEqual(parseCommit(contentOf(formatStep(step))), {
      step,
      parents: [first, second],
      committer,
      at: step.sentAt,
    });
  });

  it('is a proposal at a ref of its name only', () => {
    const content = contentOf(formatStep(sentStep));
    const open = formatOpenRef(subject, proposer.id);
    const expected = { ...sentStep, ref: open, version, closedAt: null, at: sentStep.sentAt };
    deepStrictEqual(toProposal(open, version, content), expected);
    const closed = formatClosedRef(subject, proposer.id, now);
    strictEqual(toProposal(closed, version, content)?.closedAt, now);
    for (const ref of [
      formatOpenRef(botId('7'), proposer.id),
      formatOpenRef(subject, visitor.id),
      'refs/heads/main',
    ])
      strictEqual(toProposal(ref, version, content), undefined);
    const profile = contentOf(formatStep({ ...sentStep, subject: 'profile-7' }));
    strictEqual(toProposal(formatOpenRef('profile-7', proposer.id), version, profile), undefined);
    strictEqual(toProposal(open, version, contentOf('Words.\n')), undefined);
    const long = contentOf('x\n\n'.repeat(30_000) + formatStep(sentStep));
    strictEqual(toProposal(open, version, long) === undefined, true, 'nobody writes a note of 90 KB');
  });
});
