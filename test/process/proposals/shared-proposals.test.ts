import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import type { Locale } from '../../../src/bot/locale.ts';
import { toKnownRef } from '../../../src/proposals/proposal-refs.ts';
import { type Proposal, ProposalError, type ProposalErrorKind } from '../../../src/proposals/proposal.ts';
import type { Decision, Proposals, SavedStep } from '../../../src/proposals/proposals.ts';
import { eventually } from '../../support/eventually.ts';
import { type ProposalMachine, proposalMachine, whileAway } from '../../support/proposal-machines.ts';
import { author, maintainer, proposalSettings, visitor } from '../../support/proposals.ts';
import type { TestRepository } from '../../support/repository.ts';
import { botId, mainPage, pagePath } from '../../support/sample.ts';
import { type SharedRepository, sharedRepository } from '../../support/shared-repository.ts';

const homer = botId('190519304972663312');
const homerPath = pagePath(homer);
const own = ['refs/botshelf/proposals', 'refs/botshelf/closed'];
const pageOf = (n: number): string => mainPage({ website: `https://example.org/${n}` });

describe('proposals of two machines', () => {
  let shared: SharedRepository;
  let a: ProposalMachine;
  let b: ProposalMachine;
  let logged: string[];
  /** The number of the last submission: later ones are greater. */
  let sent = 0;

  beforeEach(async () => {
    logged = [];
    shared = sharedRepository({ [homerPath]: mainPage(), 'botshelf.json': proposalSettings });
    a = await proposalMachine(shared, logged);
    b = await proposalMachine(shared, logged);
    await a.round();
    await b.round();
  });

  async function send({ proposals }: ProposalMachine, proposer = author): Promise<SavedStep> {
    const pages = new Map([[homerPath, pageOf(++sent)]]);
    return await proposals.send({ subject: homer, proposer, pages, note: `Note ${sent}.` });
  }

  /** A proposal that both machines have. */
  async function sendToBoth(): Promise<Proposal> {
    const { proposal } = await send(a);
    await b.round();
    return proposal;
  }

  async function decide(
    { proposals }: ProposalMachine,
    state: Decision['state'],
    seen = find(proposals),
  ): Promise<SavedStep> {
    return await proposals.decide(homer, author.id, {
      state,
      reviewer: maintainer,
      version: seen?.version ?? '',
      reason: state === 'declined' ? 'spam' : null,
      text: `${state}!`,
    });
  }

  function find(proposals: Proposals): Proposal | undefined {
    return proposals.list.find(homer, author.id);
  }

  /** Both exchange what they have until nothing changes, and have the same then. Returns the states, the open one first. */
  async function agree(): Promise<string[]> {
    for (let i = 0, before = ''; i < 3; i++) {
      for (const machine of [a, b]) await machine.round();
      const now = [a, b].map((machine) => `${machine.refs()} ${machine.clone.git('rev-parse', 'main')}`);
      if (i > 0 && now[0] === now[1] && now.join() === before) break;
      before = now.join();
    }
    strictEqual(a.refs(), b.refs());
    strictEqual(shared.git('for-each-ref', '--format=%(refname) %(objectname)', ...own), a.refs());
    for (const { clone } of [a, b]) {
      strictEqual(clone.status(), '');
      clone.git('fsck', '--strict', '--no-dangling');
    }
    strictEqual(a.clone.git('rev-parse', 'main'), b.clone.git('rev-parse', 'main'));
    return a.proposals.list
      .listOf(author.id)
      .toSorted((x, y) => (x.closedAt ?? 0) - (y.closedAt ?? 0))
      .map(({ state }) => state);
  }

  /** Whether all texts that were sent or said are in the history of some proposal. */
  function ensureNoTextLost(...texts: readonly string[]): void {
    const log = a.clone.git('log', '--format=%B', ...own.map((ref) => `--glob=${ref}`));
    for (const text of texts) ok(log.includes(text), `${text} is in no history`);
  }

  /** Does something while the clock stands: no machine counts as crashed, however slow this one is. */
  async function inNoTime(work: () => Promise<unknown>): Promise<void> {
    const start = performance.now();
    const clock = mock.method(performance, 'now', () => start);
    await work().finally(() => clock.mock.restore());
  }

  async function rejectsWith(work: Promise<unknown>, kind: ProposalErrorKind): Promise<void> {
    await rejects(work, (error) => error instanceof ProposalError && error.kind === kind);
  }

  it('of a bot itself are one on all machines, whichever of them its token sends to', async () => {
    const put = async ({ proposals }: ProposalMachine, page: string): Promise<string | undefined> =>
      (await proposals.sendPage({ id: homer, locale: 'en' as Locale, name: 'Homer', page })).proposal
        ?.version;
    const first = await put(a, 'First.');
    strictEqual(await put(b, 'First.'), first);
    const second = await put(b, 'Second.');
    await agree();
    const { open } = a.proposals.list;
    strictEqual(open.map(({ version }) => version).join(), second);
    match(a.clone.git('log', '--format=%H', second ?? ''), new RegExp(first ?? 'none'));
    const { proposer, version } = open[0] as Proposal;
    await b.proposals.withdraw(homer, proposer.id, version, author);
    strictEqual(a.proposals.list.open.length, 1);
    strictEqual(await put(a, 'Second.'), b.proposals.list.listOf(proposer.id)[0]?.version);
    await agree();
    for (const { proposals } of [a, b]) deepStrictEqual(proposals.list.open, []);
  });

  it('that are decided on both at once are decided once, and the second reviewer is told @long', async () => {
    const proposal = await sendToBoth();
    await decide(a, 'declined');
    await rejectsWith(decide(b, 'accepted', proposal), 'gone');
    deepStrictEqual(await agree(), ['declined']);
    for (let i = 0; i < 2; i++) {
      const proposal = await sendToBoth();
      const works = [decide(a, 'accepted', proposal), decide(b, 'declined', proposal)];
      const results = await Promise.allSettled(works);
      const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      strictEqual(reasons.length, 1, JSON.stringify(results));
      ok(reasons[0] instanceof ProposalError && reasons[0].kind === 'gone', String(reasons[0]));
      strictEqual((await agree()).length, 2 + i);
    }
  });

  it('that cannot be read on one are declined there, and end on the others @long', async () => {
    const { proposal } = await send(a);
    const clone = (): TestRepository => {
      const damaged = shared.clone();
      damaged.git('fetch', '-q', 'origin', 'refs/botshelf/*:refs/botshelf/*');
      const blob = damaged.git('rev-parse', `${proposal.version}:${homerPath}`);
      rmSync(join(damaged.folder, '.git/objects', blob.slice(0, 2), blob.slice(2)));
      return damaged;
    };
    const c = await proposalMachine({ ...shared, clone }, logged);
    await rejects(c.proposals.read(proposal), /is missing or cannot be read/);
    ok((await decide(c, 'declined')).shared);
    deepStrictEqual(await agree(), ['declined']);
    strictEqual(a.refs(), c.refs());
    deepStrictEqual(logged, []);
  });

  it('that could not be decided after all are at the remote again @long', async () => {
    const proposal = await sendToBoth();
    shared.mergePullRequest((person) => person.write(homerPath, pageOf(0)));
    await b.round();
    await rejectsWith(decide(b, 'accepted', proposal), 'conflict');
    await eventually(() => strictEqual(shared.git('rev-parse', proposal.ref), proposal.version));
    deepStrictEqual(await agree(), ['waiting']);
  });

  it('that a machine was about to decide when it crashed are open on the others, and on it when it is back @long', async () => {
    const proposal = await sendToBoth();
    ok(await a.shared.claimProposal(proposal));
    await rejectsWith(decide(b, 'accepted', proposal), 'changed');
    deepStrictEqual(b.proposals.list.open, [proposal]);
    await decide(b, 'accepted', proposal);
    deepStrictEqual(await agree(), ['accepted']);
  });

  it('that another machine is deciding are not decided here, also where the remote is away then @long', async () => {
    const proposal = await sendToBoth();
    ok(await a.shared.claimProposal(proposal));
    const refused = rejectsWith(decide(b, 'accepted', proposal), 'changed');
    await eventually(() => strictEqual(b.clone.git('for-each-ref', toKnownRef(proposal.ref)), ''));
    await whileAway(shared, async () => await refused);
    await a.shared.pushProposals(proposal.version);
    deepStrictEqual(await agree(), ['waiting']);
  });

  it('that another machine is accepting are neither put back at the remote nor closed by one that sees the branch first @long', async () => {
    const proposal = await sendToBoth();
    const text = pageOf(sent);
    ok(await a.shared.claimProposal(proposal));
    shared.mergePullRequest((person) => person.write(homerPath, text));
    await inNoTime(async () => {
      await b.round();
      ok((await send(b, visitor)).shared);
    });
    strictEqual(shared.git('for-each-ref', proposal.ref), '');
    deepStrictEqual(find(b.proposals), proposal);
    await a.shared.pushProposals(proposal.version);
    await decide(a, 'accepted', proposal);
    await b.round();
    deepStrictEqual(b.proposals.list.listOf(author.id)[0]?.reviewer, maintainer);
  });

  it('are shared again after a git was killed that was deleting one @long', async () => {
    await sendToBoth();
    b.clone.git('pack-refs', '--all');
    writeFileSync(join(b.clone.folder, '.git/packed-refs.new'), '');
    await decide(a, 'declined');
    deepStrictEqual(await agree(), ['declined']);
  });

  it('that are sent while the remote is away are pushed later, and notified of by the machine they were sent to', async () => {
    const notifying: ProposalMachine[] = [];
    for (const machine of [a, b]) machine.proposals.subscribe(() => void notifying.push(machine));
    const { proposal, shared: isShared } = await whileAway(shared, async () => await send(a));
    strictEqual(isShared, false);
    await a.round();
    await b.round();
    deepStrictEqual(b.proposals.list.open, [proposal]);
    ok(notifying.length === 1 && notifying[0] === a);
  });

  for (const state of ['declined', 'changes-asked'] as const)
    it(`that are accepted on one and ${state} on the other without the remote are accepted @long`, async () => {
      await sendToBoth();
      await whileAway(shared, async () => {
        await decide(a, state);
        await decide(b, 'accepted');
      });
      deepStrictEqual(await agree(), ['accepted']);
      ensureNoTextLost(`${state}!`, 'accepted!');
      match(a.clone.read(homerPath), new RegExp(`example.org/${sent}`));
    });

  it('are shared also beside refs of other names, and those are left alone @long', async () => {
    const tip = shared.git('rev-parse', 'main');
    for (const name of ['proposals/x/1', `proposals/${homer}/${visitor.id}`, `closed/${homer}/1/2`])
      shared.git('update-ref', `refs/botshelf/${name}`, tip);
    await send(a);
    await b.round();
    strictEqual(b.proposals.list.open.length, 1);
    ok((await send(b, visitor)).proposal);
    await b.round();
    strictEqual(shared.git('rev-parse', `refs/botshelf/proposals/${homer}/${visitor.id}`), tip);
  });

  it('that the remote has, and refuses to give up, are decided here all the same @long', async () => {
    await sendToBoth();
    const hook = join(shared.folder, 'hooks/update');
    writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const { proposal, shared: isShared } = await decide(a, 'declined');
    deepStrictEqual([proposal.state, isShared], ['declined', false]);
    rmSync(hook);
    deepStrictEqual(await agree(), ['declined']);
  });
});
