import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import {
  type Commit,
  findLost,
  findUnexplained,
  findUnexplainedLines,
  findWrongMerge,
  findWrongProposals,
  type Operation,
  type ProposalDeed,
} from './models.ts';

const write = (value: string, start: number, end: number, more: Partial<Operation> = {}): Operation => ({
  kind: 'write',
  value,
  start,
  end,
  label: `write ${value}`,
  ...more,
});
const read = (value: string, start: number, end: number): Operation => ({
  ...write(value, start, end),
  kind: 'read',
  label: `read ${value}`,
});
const maybe = (value: string, start: number, staleAfter?: number): Operation => ({
  ...write(value, start, Number.POSITIVE_INFINITY, { mayBe: true }),
  ...(staleAfter !== undefined && { staleAfter }),
});
const stuckAt = (...operations: Operation[]): string | undefined => findUnexplained('0', operations)?.label;

describe('the model of a register', () => {
  it('accepts what some order explains, and refuses an answered write that is not seen', () => {
    strictEqual(stuckAt(write('1', 0, 10), read('0', 2, 4), read('1', 5, 12)), undefined);
    strictEqual(stuckAt(write('1', 0, 10), write('2', 1, 9), read('1', 11, 12)), undefined);
    strictEqual(stuckAt(write('1', 0, 10), read('0', 11, 12)), 'read 0');
    strictEqual(stuckAt(write('1', 0, 1), write('2', 2, 3), read('1', 4, 5)), 'read 1');
  });

  it('lets a write without a response, or of elsewhere, show at any time once it was sent, or never', () => {
    strictEqual(stuckAt(maybe('1', 0), read('0', 5, 6), read('1', 7, 8)), undefined);
    strictEqual(stuckAt(maybe('1', 0), read('0', 5, 6)), undefined);
    strictEqual(stuckAt(maybe('1', 7), read('1', 5, 6)), 'read 1');
    strictEqual(stuckAt(read('1', 5, 6)), 'read 1');
  });

  it('refuses a read that goes back to an older value', () => {
    const back = [maybe('1', 0), maybe('2', 0), read('1', 5, 6), read('2', 7, 8), read('1', 9, 10)];
    strictEqual(stuckAt(...back), 'read 1');
    strictEqual(stuckAt(...back, maybe('1', 8)), undefined);
  });

  it('refuses an ended token that works, and a current one that does not', () => {
    const not: Operation = { ...read('a', 5, 6), kind: 'not' };
    strictEqual(stuckAt(write('a', 0, 1), write('b', 2, 3), not, read('b', 7, 8)), undefined);
    strictEqual(stuckAt(write('a', 0, 1), write('b', 2, 3), read('a', 5, 6)), 'read a');
    strictEqual(stuckAt(write('a', 0, 1), { ...not, label: 'not a' }), 'not a');
    strictEqual(stuckAt(write('a', 0, 1), maybe('none', 2), not), undefined);
  });

  it('refuses a write of elsewhere that shows after one that is later by all clocks', () => {
    strictEqual(stuckAt(maybe('1', 0, 10), write('2', 9, 12), read('1', 13, 14)), undefined);
    strictEqual(stuckAt(maybe('1', 0, 10), write('2', 11, 12), read('1', 13, 14)), 'read 1');
  });
});

describe('the model of the branch', () => {
  const commit = (
    id: string,
    parents: string,
    value?: string,
    by: Commit['by'] = 'post',
    edited = 0,
  ): Commit => ({
    id,
    parents: parents.split(' '),
    by,
    writes: new Map(value === undefined ? [] : [['1 website', value]]),
    edited,
  });
  const check = (value: string, ...commits: Commit[]): string | undefined =>
    findWrongMerge(commits, '1 website', value);

  it('refuses a value that a later commit has overwritten, or that nobody wrote', () => {
    const line = [commit('a', '', 'x'), commit('b', 'a', 'y'), commit('c', 'b')];
    strictEqual(check('y', ...line), undefined);
    match(check('x', ...line) ?? '', /overwritten/);
    match(check('z', ...line) ?? '', /never committed: it should be y of b/);
  });

  it('refuses a post that wins over people, and an earlier post that wins over a later one', () => {
    const split = (by: Commit['by']): Commit[] => [
      commit('a', '', 'x'),
      commit('b', 'a', 'y', 'post', 1),
      commit('c', 'a', 'z', by, 2),
      commit('d', 'b c'),
    ];
    strictEqual(check('z', ...split('person')), undefined);
    match(check('y', ...split('person')) ?? '', /of a post, although people/);
    strictEqual(check('y', commit('0', '', 'z'), ...split('person')), undefined);
    const beaten = [
      commit('a', ''),
      commit('b', 'a', 'x', 'person'),
      commit('c', 'b', 'y'),
      commit('d', 'a', 'z', 'person'),
    ];
    strictEqual(check('y', ...beaten, commit('e', 'c d')), undefined);
    strictEqual(check('z', ...split('post')), undefined);
    match(check('y', ...split('post')) ?? '', /of an earlier post/);
  });

  it('refuses that an answered write is in no commit, unless a force push dropped it', () => {
    const answered = { register: '1 website', value: 'y', isRewritten: false };
    deepStrictEqual(findLost([commit('a', '', 'y')], [answered]), []);
    deepStrictEqual(findLost([commit('a', '', 'x')], [answered]), [answered]);
    deepStrictEqual(findLost([commit('a', '', 'x')], [{ ...answered, isRewritten: true }]), []);
  });
});

describe('the model of proposals', () => {
  const deed = (what: ProposalDeed['what'], start: number): ProposalDeed => ({
    what,
    proposal: '1/7',
    value: 'x',
    start,
    end: start + 1,
    isAnswered: true,
    isRewritten: false,
  });
  const check = (
    deeds: readonly ProposalDeed[],
    ends: { open?: boolean; kept?: boolean; inBranch?: boolean },
  ): string =>
    findWrongProposals(
      deeds,
      {
        open: new Set(ends.open === true ? ['1/7'] : []),
        values: new Map(ends.kept === false ? [] : [['1/7', new Set(['x'])]]),
        inBranch: new Set(ends.inBranch === true ? ['x'] : []),
      },
      true,
    ).join();

  it('refuses one that is lost, that nobody accepted, or that is accepted and not in the branch', () => {
    strictEqual(check([deed('send', 0)], { open: true }), '');
    match(check([deed('send', 0)], { kept: false }), /is lost after send/);
    match(check([deed('send', 0)], { inBranch: true }), /nobody accepted it/);
    strictEqual(check([deed('send', 0), deed('accepted', 2)], { inBranch: true }), '');
    match(check([deed('send', 0), deed('accepted', 2)], {}), /is not in the branch/);
  });

  it('refuses one that is open after its end, unless it was sent again', () => {
    strictEqual(check([deed('send', 0), deed('withdraw', 2)], {}), '');
    match(check([deed('send', 0), deed('withdraw', 2)], { open: true }), /open after withdraw/);
    strictEqual(check([deed('send', 0), deed('withdraw', 2), deed('send', 3)], { open: true }), '');
  });
});

describe('the model of the log', () => {
  it('refuses a warning without a trouble before it that explains it', () => {
    const lines = [{ at: 5, text: 'the disk is full' }];
    const explanations = [{ pattern: /disk/, by: ['disk-full'] }];
    const check = (kind: string, start: number): string[] =>
      findUnexplainedLines(lines, [{ kind, start }], explanations);
    deepStrictEqual(check('disk-full', 4), []);
    deepStrictEqual(check('kill', 4), ['the disk is full']);
    deepStrictEqual(check('disk-full', 6), ['the disk is full']);
  });
});
