import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Repository } from '../../src/git/repository.ts';
import { mergeRefs, toKnownRef } from '../../src/proposals/proposal-refs.ts';
import {
  formatClosedRef,
  formatOpenRef,
  formatStep,
  parseStep,
  type ProposalStep,
  toQueueTime,
} from '../../src/proposals/proposal.ts';
import { gitSync } from '../support/run-sync.ts';
import { openUntilEnd } from '../support/opened.ts';
import { maintainer, sentStep, visitor } from '../support/proposals.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { botId } from '../support/sample.ts';

type Refs = Readonly<Record<string, string>>;

const { subject, proposer } = sentStep;
const open = formatOpenRef(subject, proposer.id);
const start = Date.now() - 1000;
const closedAt = (time: number): string => formatClosedRef(subject, proposer.id, start + time);

describe('the proposals of this clone and of the remote', () => {
  let clone: TestRepository;
  let repository: Repository;
  let base: string;
  let first: string;

  before(async () => {
    clone = testRepository();
    repository = await openUntilEnd(clone.folder);
    base = clone.git('rev-parse', 'main');
    first = send(0, base);
  });

  /** Creates the commit of a step; its tree contains the step's text. @param made the time of the step, in seconds since the epoch */
  function make(values: Partial<ProposalStep>, parents: readonly string[], made = 1_700_000_000): string {
    const step = { ...sentStep, base, sentAt: start, ...values };
    const run = (input: string, ...args: string[]): string => {
      const env = { ...process.env, GIT_COMMITTER_DATE: `${made} +0000` };
      const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
      return gitSync({ args: [...identity, ...args], cwd: clone.folder, input, env });
    };
    const blob = run(step.text, 'hash-object', '-w', '--stdin');
    const tree = run(`100644 blob ${blob}\ttext\n`, 'mktree');
    return run(formatStep(step), 'commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]));
  }

  function send(time: number, ...parents: string[]): string {
    return make({ sentAt: start + time, text: `Sent at ${time}.` }, parents);
  }

  function list(): Record<string, string> {
    const format = '--format=%(refname) %(objectname)';
    const lines = clone.git('for-each-ref', format, 'refs/botshelf/proposals', 'refs/botshelf/closed');
    return Object.fromEntries(lines.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ')])));
  }

  async function mergeInto(ours: Refs, theirs: Refs): Promise<Record<string, string>> {
    const known = Object.entries(theirs).map(([ref, id]) => [toKnownRef(ref), id] as const);
    const refs = new Map([...Object.entries(ours), ...known]);
    const before = clone.git('for-each-ref', '--format=%(refname)', 'refs/botshelf').split('\n');
    const updates = [
      ...before.flatMap((ref) => (ref === '' || refs.has(ref) ? [] : `delete ${ref}\n`)),
      ...[...refs].map(([ref, id]) => `update ${ref} ${id}\n`),
    ];
    gitSync({ args: ['update-ref', '--stdin'], cwd: clone.folder, input: updates.join('') });
    const { isMoved, toPush } = await mergeRefs(repository);
    const merged = list();
    strictEqual(isMoved, !isDeepStrictEqual(merged, ours));
    const pushed: Record<string, string> = { ...theirs };
    for (const { ref, commit, lease } of toPush) {
      strictEqual(lease, theirs[ref] ?? '');
      if (commit === null) delete pushed[ref];
      else pushed[ref] = commit;
    }
    deepStrictEqual(pushed, merged);
    return merged;
  }

  /** Returns the merged refs, after checking that the other machine gets the same. */
  async function merge(ours: Refs, theirs: Refs): Promise<Record<string, string>> {
    const merged = await mergeInto(ours, theirs);
    deepStrictEqual(await mergeInto(theirs, ours), merged);
    deepStrictEqual(await mergeInto(merged, merged), merged);
    return merged;
  }

  /** Checks that a commit has both in its history, with the step of one and the files of one. */
  function ensureJoined(id = '', parents: string[], values: Partial<ProposalStep>, text: string): void {
    strictEqual(clone.git('log', '-1', '--format=%P', id), parents.join(' '));
    const step = parseStep(clone.git('log', '-1', '--format=%B', id)) as ProposalStep;
    deepStrictEqual(step, { ...step, ...values });
    strictEqual(clone.git('show', `${id}:text`), text);
    const committer = '--format=%cn %ct';
    strictEqual(clone.git('log', '-1', committer, id), clone.git('log', '-1', committer, parents[0] ?? ''));
  }

  it('are the same on both then: what one has, and the later of two versions @slow', async () => {
    const other = {
      [formatOpenRef(botId('7'), visitor.id)]: make({ subject: botId('7'), proposer: visitor }, []),
    };
    deepStrictEqual(await merge({ [open]: first }, {}), { [open]: first });
    deepStrictEqual(await merge({ [open]: first }, other), { [open]: first, ...other });
    // Versions are read in the order of their ids.
    const later = Array.from({ length: 16 }, (_, i) => send(i + 1, first));
    for (const second of [later.find((id) => id < first), later.find((id) => id > first)])
      if (second !== undefined)
        deepStrictEqual(await merge({ [open]: first }, { [open]: second }), { [open]: second });
  });

  it('are merged by a few git processes for all, so that thousands hold up no round', async () => {
    const refs = ['1', '2', '3'].map((id) => {
      const step = { subject: botId(id), proposer: visitor };
      return [formatOpenRef(step.subject, visitor.id), make(step, [])] as const;
    });
    await mergeInto({}, {});
    for (const [ref, id] of refs) clone.git('update-ref', toKnownRef(ref), id);
    const run: string[] = [];
    await mergeRefs(
      Object.create(repository, {
        run: {
          value: async (...call: Parameters<Repository['run']>) => {
            run.push(call[0].join(' '));
            return await repository.run(...call);
          },
        },
      }) as Repository,
    );
    deepStrictEqual(
      run.filter((command) => command.includes('--contains')),
      [],
    );
    deepStrictEqual(list(), Object.fromEntries(refs));
  });

  it('that were sent again on both have the later files, with all that was sent in their history @slow', async () => {
    const [a, b] = [send(1, first), send(2, first)];
    const merged = await merge({ [open]: a }, { [open]: b });
    ensureJoined(merged[open], [b, a], { state: 'waiting', sentAt: start + 2 }, 'Sent at 2.');
  });

  it('of which one was answered and one was sent again have the answer, and the later files @slow', async () => {
    const asked = make({ state: 'changes-asked', reviewer: maintainer, text: 'Why?' }, [first]);
    const again = send(1, first);
    const merged = await merge({ [open]: asked }, { [open]: again });
    const values = { state: 'changes-asked', reviewer: maintainer, text: 'Why?', sentAt: start + 1 } as const;
    ensureJoined(merged[open], [asked, again], values, 'Sent at 1.');
  });

  it('that were answered twice have the later answer, or any where they are equally late @long', async () => {
    const ask = (text: string, made: number): string => make({ state: 'changes-asked', text }, [first], made);
    const [early, late, other] = [ask('A', 1_700_000_001), ask('B', 1_700_000_002), ask('C', 1_700_000_002)];
    const merged = await merge({ [open]: early }, { [open]: late });
    ensureJoined(merged[open], [late, early], { text: 'B' }, 'B');
    const [loser = '', winner = ''] = [late, other].toSorted();
    const text = winner === late ? 'B' : 'C';
    const equal = await merge({ [open]: late }, { [open]: other });
    ensureJoined(equal[open], [winner, loser], { text }, text);
  });

  it('that were answered twice have the later answer, also of the earlier submission, and the later files @long', async () => {
    const again = send(1, first);
    const answer = (values: Partial<ProposalStep>, parent: string, made: number): string =>
      make({ state: 'changes-asked', ...values }, [parent], made);
    const late = answer({ text: 'Late.' }, first, 1_700_000_002);
    const early = answer({ text: 'Early.', sentAt: start + 1 }, again, 1_700_000_001);
    const merged = await merge({ [open]: late }, { [open]: early });
    ensureJoined(merged[open], [late, early], { text: 'Late.', sentAt: start + 1 }, 'Early.');
  });

  for (const [state, time, at, isOver] of [
    ['declined', 9, 0, true],
    ['accepted', 1, 0, false],
    ['accepted', 0, 0, true],
    ['withdrawn', 5, 5, true],
    ['withdrawn', 6, 5, false],
  ] as const)
    it(`that are ${state} on one at ${at} and were sent again on the other at ${time} ${isOver ? 'are over' : 'stay open'} @long`, async () => {
      const end = make({ state, text: 'The end.' }, [first]);
      const again = send(time, first);
      const closed = closedAt(at);
      deepStrictEqual(await merge({ [open]: first }, { [closed]: end }), { [closed]: end });
      const merged = await merge({ [open]: again }, { [closed]: end });
      if (!isOver) deepStrictEqual(merged, { [open]: again, [closed]: end });
      else {
        deepStrictEqual(Object.keys(merged), [closed]);
        ensureJoined(merged[closed], [end, again], { state, sentAt: start }, 'The end.');
      }
    });

  it('whose decision was taken back on one stay open, whatever the other has of that decision @slow', async () => {
    const again = send(1, first);
    for (const state of ['declined', 'changes-asked'] as const) {
      const ref = state === 'changes-asked' ? open : closedAt(5);
      const decided = make({ state, reviewer: maintainer }, [first]);
      const back = make({ reviewer: maintainer, takenBack: 1 }, [decided]);
      for (const theirs of [{ [ref]: decided }, { [open]: first }])
        deepStrictEqual(await merge({ [open]: back }, theirs), { [open]: back });
      const joined = await merge({ [open]: again }, { [ref]: decided });
      const merged = await merge(joined, { [open]: back });
      deepStrictEqual(Object.keys(merged), [open]);
      const step = parseStep(clone.git('log', '-1', '--format=%B', merged[open] ?? '')) as ProposalStep;
      deepStrictEqual([step.state, step.takenBack, toQueueTime(step)], ['waiting', 1, start]);
      const ended = make({ state: 'accepted', takenBack: 1, sentAt: start + 2, queuedAt: start }, [
        send(2, back),
      ]);
      deepStrictEqual(await merge({ [closedAt(6)]: ended }, { [ref]: decided }), { [closedAt(6)]: ended });
    }
  });

  it('that were accepted on one are over, also where the other took a decision back, or decided again @slow', async () => {
    const accepted = make({ state: 'accepted', reviewer: visitor }, [first]);
    const declined = make({ state: 'declined', reviewer: maintainer }, [first]);
    const back = make({ reviewer: maintainer, takenBack: 1 }, [declined]);
    const again = make({ state: 'declined', reviewer: maintainer, takenBack: 1 }, [back]);
    for (const [ref, other] of [
      [open, back],
      [closedAt(6), again],
    ] as const) {
      const merged = await merge({ [ref]: other }, { [closedAt(5)]: accepted });
      deepStrictEqual(Object.keys(merged), [closedAt(5)]);
      ensureJoined(merged[closedAt(5)], [accepted, other], { state: 'accepted' }, sentStep.text);
    }
  });

  it('that began on both, and had a decision on each taken back, stay open @slow', async () => {
    const decide = (values: Partial<ProposalStep>, parent: string): [decided: string, back: string] => {
      const decided = make({ ...values, state: 'declined', reviewer: maintainer }, [parent]);
      return [decided, make({ ...values, reviewer: maintainer, takenBack: 1 }, [decided])];
    };
    const [, back] = decide({}, first);
    const [declined, otherBack] = decide({ sentAt: start + 3 }, send(3, base));
    const again = { sentAt: start + 4, queuedAt: start + 3, takenBack: 1 };
    const merged = await merge({ [open]: back }, { [open]: make(again, [otherBack]) });
    deepStrictEqual(Object.keys(await merge(merged, { [closedAt(5)]: declined })), [open]);
  });

  it('whose decision about a later submission was taken back on one keep that of the other about an earlier @slow', async () => {
    const again = send(1, first);
    const later = { sentAt: start + 1, queuedAt: start };
    const declined = make({ ...later, state: 'declined', reviewer: maintainer }, [again]);
    const back = make({ ...later, reviewer: maintainer, takenBack: 1 }, [declined]);
    const second = make({ ...later, state: 'declined', reviewer: visitor, takenBack: 1 }, [back]);
    const [accepted, refused] = (['accepted', 'declined'] as const).map((state) =>
      make({ state, reviewer: visitor }, [first]),
    ) as [string, string];
    const ends = { [closedAt(5)]: accepted };
    deepStrictEqual(await merge({ [open]: back }, ends), { [open]: back, ...ends });
    const both = { [closedAt(6)]: second, ...ends };
    deepStrictEqual(await merge({ [closedAt(6)]: second }, ends), both);
    const merged = await merge({ [open]: back }, { [closedAt(5)]: refused });
    deepStrictEqual(Object.keys(merged), [closedAt(5)]);
    ensureJoined(merged[closedAt(5)], [refused, back], { state: 'declined' }, sentStep.text);
    // The machine's own decision can still be taken back.
    const own = make({ reviewer: visitor, takenBack: 1 }, [refused]);
    deepStrictEqual(Object.keys(await merge({ [open]: own }, merged)), [open]);
  });

  it('that were withdrawn on one are over, also where a decision was taken back on the other @slow', async () => {
    const back = make({ reviewer: maintainer, takenBack: 1 }, [make({ state: 'declined' }, [first])]);
    const withdrawn = make({ state: 'withdrawn' }, [first]);
    const merged = await merge({ [open]: back }, { [closedAt(5)]: withdrawn });
    deepStrictEqual(Object.keys(merged), [closedAt(5)]);
    ensureJoined(merged[closedAt(5)], [withdrawn, back], { state: 'withdrawn' }, sentStep.text);
  });

  it('that began on both, and ended with what began on one, are over with both @slow', async () => {
    const other = send(0, base, make({}, []));
    const both = make({ sentAt: start + 1, text: 'Both.' }, [first, other]);
    const end = make({ state: 'declined', text: 'No.' }, [other]);
    const merged = await merge({ [open]: both }, { [closedAt(0)]: end });
    deepStrictEqual(Object.keys(merged), [closedAt(0)]);
    ensureJoined(merged[closedAt(0)], [end, both], { state: 'declined' }, 'No.');
  });

  it('that ended on both at one time are one, as the stronger end @slow', async () => {
    const [accepted, declined] = (['accepted', 'declined'] as const).map((state) =>
      make({ state, text: state }, [first]),
    ) as [string, string];
    const merged = await merge({ [closedAt(0)]: declined }, { [closedAt(0)]: accepted });
    deepStrictEqual(Object.keys(merged), [closedAt(0)]);
    ensureJoined(merged[closedAt(0)], [accepted, declined], { state: 'accepted' }, 'accepted');
  });

  for (const [state, time, values] of [
    ['declined', 9, { reviewer: maintainer }],
    ['withdrawn', 1, {}],
    // Closed by the other machine, which found it in the branch.
    ['accepted', 1, {}],
  ] as const)
    it(`that were accepted on one at 5 and ${state} on the other at ${time} are accepted, with the reviewer @long`, async () => {
      const asked = make({ state: 'changes-asked', reviewer: maintainer, text: 'Why?' }, [first]);
      const accepted = make({ state: 'accepted', reviewer: maintainer, text: 'Yes.' }, [first]);
      const other = make({ state, ...values, text: state }, [asked], 1_700_000_000 + time);
      const [end, otherEnd] = [closedAt(5), closedAt(time)];
      const merged = await merge({ [end]: accepted }, { [otherEnd]: other, [open]: asked });
      deepStrictEqual(Object.keys(merged), [end]);
      const step = { state: 'accepted', reviewer: maintainer, text: 'Yes.' } as const;
      ensureJoined(merged[end], [accepted, other], step, 'Yes.');
      // A machine that only has the other end, or was killed before deleting it.
      deepStrictEqual(await merge({ [otherEnd]: other }, merged), merged);
      deepStrictEqual(await merge({ ...merged, [otherEnd]: other }, merged), merged);
    });

  it('that ended 90 days ago are deleted on both, and commits of somebody else are left alone @slow', async () => {
    const end = make({ state: 'declined' }, [first]);
    const old = formatClosedRef(subject, proposer.id, Date.now() - 90 * 86_400_000);
    deepStrictEqual(await merge({ [old]: end }, { [old]: end }), {});
    const other = send(1);
    deepStrictEqual(await merge({ [old]: end }, { [open]: other }), { [open]: other });
    clone.git('update-ref', open, base);
    clone.git('update-ref', toKnownRef(open), first);
    deepStrictEqual(await mergeRefs(repository), { isMoved: false, toPush: [] });
    strictEqual(clone.git('rev-parse', open), base);
  });
});
