import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { existsSync, renameSync } from 'node:fs';
import * as fc from 'fast-check';
import { type Proposal, ProposalError } from '../../../src/proposals/proposal.ts';
import { type ProposalMachine, proposalMachine } from '../../support/proposal-machines.ts';
import { author, maintainer, proposalSettings, visitor } from '../../support/proposals.ts';
import { botId, mainPage, pagePath } from '../../support/sample.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { readProposals } from '../../verify/simulation/aftermath.ts';
import { findWrongProposals, type ProposalDeed } from '../../verify/simulation/models.ts';

const homer = botId('190519304972663312');
const homerPath = pagePath(homer);

/** How many schedules are tried; each takes about two seconds. */
const schedules = Number(process.env['SCHEDULES'] ?? 3);

/** Whether the remote comes or goes instead of a step, in the shape of a step. */
const step = fc.record({
  machine: fc.nat({ max: 2 }),
  proposer: fc.constantFrom(author, author, visitor),
  what: fc.constantFrom(
    'send',
    'send',
    'withdraw',
    'accepted',
    'changes-asked',
    'declined',
    'taken-back',
    'taken-back',
    'fetch',
    'round',
    'round',
    'come or go',
  ),
} as const);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe('proposals of machines that make steps, fetch and lose their remote in any order', () => {
  it('are the same on all in the end, with all that was said, and all that was accepted is in the branch @long', async function () {
    this.timeout(schedules * 120_000);
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 6, maxLength: 16 }),
      fc.integer({ min: 2, max: 3 }),
      async (steps, machines) => await ensureAgreement(steps, machines),
    );
    await fc.assert(property, { numRuns: schedules, endOnFailure: true, verbose: 1 });
  });
});

async function ensureAgreement(steps: readonly Step[], count: number): Promise<void> {
  const shared = sharedRepository({ [homerPath]: mainPage(), 'botshelf.json': proposalSettings });
  const machines: ProposalMachine[] = [];
  for (let i = 0; i < count; i++) machines.push(await proposalMachine(shared));
  for (const machine of machines) await machine.round();
  const away = `${shared.folder}.away`;
  const said: string[] = [];
  const accepted: string[] = [];
  const websites = new Map<number, string>();
  const deeds: ProposalDeed[] = [];
  const note = (what: ProposalDeed['what'], { proposer, sentAt }: Proposal): void => {
    const proposal = `${homer}/${proposer.id}`;
    const value = websites.get(sentAt) ?? '';
    deeds.push({ what, proposal, value, isAnswered: true, isRewritten: false });
  };
  const take = async ({ machine, proposer, what }: Step, text: string): Promise<void> => {
    const { proposals, shared: remote, round } = machines[machine % count] as ProposalMachine;
    const version = proposals.list.find(homer, proposer.id)?.version ?? '';
    if (what === 'come or go') {
      if (existsSync(away)) renameSync(away, shared.folder);
      else renameSync(shared.folder, away);
    } else if (what === 'fetch') await remote.fetchProposals().catch(() => undefined);
    else if (what === 'round') await round().catch(() => undefined);
    else if (what === 'withdraw')
      note(what, (await proposals.withdraw(homer, proposer.id, version)).proposal);
    else if (what === 'send') {
      const website = `https://example.org/${said.length}`;
      const pages = new Map([[homerPath, mainPage({ website })]]);
      const { proposal } = await proposals.send({ subject: homer, proposer, pages, note: text });
      websites.set(proposal.sentAt, website);
      note(what, proposal);
      said.push(text);
    } else if (what === 'taken-back') {
      const decided = proposals.list.findLast(homer, proposer.id)?.version ?? '';
      note(what, (await proposals.takeBack(homer, proposer.id, decided, maintainer)).proposal);
    } else {
      const decision = { state: what, reviewer: maintainer, version, reason: null, text };
      const { proposal } = await proposals.decide(homer, proposer.id, decision);
      note(what, proposal);
      said.push(text);
      if (what === 'accepted') accepted.push(proposal.commit ?? '');
    }
  };
  for (const [i, step] of steps.entries())
    await take(step, `${step.what} ${i}.`).catch((error: unknown) => {
      if (!(error instanceof ProposalError)) throw error;
    });
  if (existsSync(away)) renameSync(away, shared.folder);
  for (let i = 0; i < 3; i++) for (const machine of machines) await machine.round();
  const [first, ...others] = machines as [ProposalMachine, ...ProposalMachine[]];
  const states = (machine: ProposalMachine): unknown[] =>
    [author, visitor].map(({ id }) =>
      machine.proposals.list.listOf(id).map(({ ref, version }) => [ref, version]),
    );
  for (const other of others) {
    strictEqual(other.refs(), first.refs());
    strictEqual(JSON.stringify(states(other)), JSON.stringify(states(first)));
  }
  const log = first.clone.git(
    'log',
    '--format=%B',
    '--glob=refs/botshelf/proposals',
    '--glob=refs/botshelf/closed',
  );
  const inBranch = new Set(deeds.flatMap(({ what, value }) => (what === 'accepted' ? value : [])));
  deepStrictEqual(findWrongProposals(deeds, { ...readProposals(first.clone), inBranch }), []);
  for (const text of said) ok(log.includes(`\n${text}\n`), `"${text}" is in no history`);
  for (const { clone, proposals } of machines) {
    for (const commit of accepted) clone.git('merge-base', '--is-ancestor', commit, 'main');
    for (const { ref } of proposals.list.open) {
      const containing = clone.git('for-each-ref', '--contains', ref, 'refs/botshelf/closed');
      strictEqual(containing, '', `${ref} is open, and closed`);
    }
    strictEqual(clone.status(), '');
    clone.git('fsck', '--strict', '--no-dangling');
    notStrictEqual(clone.git('rev-parse', 'main'), '');
  }
}
