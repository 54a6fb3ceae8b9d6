import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { readCases } from '../../support/fixture-lines.ts';
import * as models from './models.ts';

/** Reads `read 1 5-6`, and `maybe 1 0 10`: a write from 0 on, which is outdated after 10. */
function toOperation(text: string): models.Operation {
  const [kind = '', value = '', times = '', staleAfter] = text.split(' ');
  const [start = 0, end = Number.POSITIVE_INFINITY] = times.split('-').map(Number);
  const operation = { value, start, end, label: `${kind} ${value}` };
  if (kind !== 'maybe') return { ...operation, kind: kind as models.Operation['kind'] };
  const outdated = staleAfter === undefined ? {} : { staleAfter: Number(staleAfter) };
  return { ...operation, kind: 'write', mayBe: true, ...outdated };
}

function stuckAt(...operations: string[]): string | undefined {
  const stuck = models.findUnexplained('0', operations.map(toOperation));
  return typeof stuck === 'object' ? stuck.label : stuck;
}

describe('the model of a register', () => {
  for (const { title, input, expected } of readCases('register-orders'))
    it(title, () => strictEqual(stuckAt(...input.split(', ')), expected[0]));

  it('decides also where hundreds of writes may be that nothing tells apart', () => {
    const many = Array.from({ length: 300 }, (_, i) => `maybe u${i} ${i} ${i + 10}`);
    const looks = Array.from({ length: 100 }, (_, i) => `not 0 ${400 + 2 * i}-${401 + 2 * i}`);
    strictEqual(stuckAt(...many, ...looks), undefined);
    strictEqual(stuckAt(...many, ...looks, 'read 1 700-701'), 'read 1');
  });
});

describe('the model of the branch', () => {
  const commit = (
    id: string,
    parents: string,
    value?: string,
    by: models.Commit['by'] = 'post',
    edited = 0,
  ): models.Commit => ({
    id,
    parents: parents.split(' '),
    by,
    writes: new Map(value === undefined ? [] : [['1 website', value]]),
    edited,
  });
  const check = (value: string, ...commits: models.Commit[]): string | undefined =>
    models.findWrongMerge(commits, '1 website', value);

  it('refuses a value that a later commit has overwritten, or that nobody wrote', () => {
    const line = [commit('a', '', 'x'), commit('b', 'a', 'y'), commit('c', 'b')];
    strictEqual(check('y', ...line), undefined);
    match(check('x', ...line) ?? '', /overwritten/);
    match(check('z', ...line) ?? '', /never committed: it should be y of b/);
  });

  it('refuses a post that wins over people, and an earlier post that wins over a later one', () => {
    const split = (by: models.Commit['by']): models.Commit[] => [
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

  const answered = { machine: 1, register: '1 website', value: 'y' };
  const move = (more: Partial<models.Rewrite>): models.Rewrite => ({
    machine: 1,
    isForced: false,
    dropped: [commit('b', 'a', 'y')],
    before: new Map([['1 website', 'y']]),
    common: new Map([['1 website', 'x']]),
    remote: new Map([['1 website', 'x']]),
    ...more,
  });

  it('refuses that an answered write is in no commit, unless a force push dropped it', () => {
    const find = (value: string, ...moves: models.Rewrite[]): models.AnsweredWrite[] =>
      models.findLost([commit('a', '', value)], [answered], moves);
    deepStrictEqual(find('y'), []);
    deepStrictEqual(find('x'), [answered]);
    deepStrictEqual(find('x', move({ machine: null, isForced: true })), []);
    deepStrictEqual(find('x', move({ machine: null, dropped: [commit('b', 'a', 'z')] })), [answered]);
  });

  it('refuses that a machine does not replay what it had not pushed, unless it or the remote had replaced it', () => {
    const find = (more: Partial<models.Rewrite>): models.AnsweredWrite[] =>
      models.findLost([], [answered], [move(more)]);
    deepStrictEqual(find({}), [answered]);
    deepStrictEqual(find({ before: new Map([['1 website', 'z']]) }), []);
    deepStrictEqual(find({ remote: new Map([['1 website', 'z']]) }), []);
    deepStrictEqual(find({ machine: 2, remote: new Map([['1 website', 'z']]) }), [answered]);
    const pushed = { ...answered, machine: null };
    const findPushed = (more: Partial<models.Rewrite>): models.AnsweredWrite[] =>
      models.findLost([], [pushed], [move(more)]);
    deepStrictEqual(findPushed({}), [pushed]);
    deepStrictEqual(findPushed({ before: new Map([['1 website', 'z']]) }), []);
  });

  it('refuses that an answer names a commit that did not make the change', () => {
    const find = (id: string | null): number =>
      models.findMisnamed([commit('a', '', 'y'), commit('b', 'a', 'z')], [{ ...answered, commit: id }])
        .length;
    deepStrictEqual([find('a'), find(null), find('b'), find('c')], [0, 0, 1, 1]);
  });

  it('refuses that a branch is moved back without a force push', () => {
    const forced = move({ machine: null, isForced: true });
    deepStrictEqual(models.findUnexplainedRewrites([forced, move({})]), []);
    const others = [move({ machine: null }), move({ dropped: [commit('c', 'a')] })];
    deepStrictEqual(models.findUnexplainedRewrites([forced, ...others]), others);
  });
});

describe('the model of proposals', () => {
  for (const { title, input, expected } of readCases('proposal-ends'))
    it(title, () => {
      const [done = '', ends = ''] = input.split(': ');
      const deeds = done.split(', ').map((text): models.ProposalDeed => {
        const [what, value = 'x'] = text.split(' ');
        const named = { what: what as models.ProposalDeed['what'], proposal: '1/7', value };
        return { ...named, isAnswered: true, isRewritten: false };
      });
      const [, open] = /open ?(\w*)/.exec(ends) ?? [];
      const openValues = open === undefined ? [] : [open || 'x'];
      const closed = ends.includes('closed') ? ['x'] : [];
      const wrong = models.findWrongProposals(deeds, {
        open: new Map(openValues.map((value) => ['1/7', value])),
        values: new Map([['1/7', new Set([...openValues, ...closed])]]),
        closed: new Map([['1/7', new Set(closed)]]),
        inBranch: new Set(ends.includes('branch') ? ['x'] : []),
      });
      match(wrong.join(), new RegExp(expected[0] ?? '^$'));
    });
});

describe('the model of the log', () => {
  it('refuses a warning without a trouble before it that explains it', () => {
    const lines = [{ at: 5, text: 'the disk is full' }];
    const explanations = [{ pattern: /disk/, by: ['disk-full'] }];
    const check = (kind: string, start: number, end = Number.POSITIVE_INFINITY): string[] =>
      models.findUnexplainedLines(lines, [{ kind, start, end }], explanations, 1);
    deepStrictEqual(check('disk-full', 4), []);
    deepStrictEqual(check('disk-full', 3, 4), []);
    deepStrictEqual(check('kill', 4), ['the disk is full']);
    deepStrictEqual(check('disk-full', 6), ['the disk is full']);
    deepStrictEqual(check('disk-full', 2, 3), ['the disk is full']);
  });

  it('spares some of what a busy machine logs without trouble', () => {
    const lines = [1, 2, 3].map((at) => ({ at, text: `too slow ${at}` }));
    const explanations = [{ pattern: /too slow/, by: ['freeze'], spare: 2 }];
    deepStrictEqual(models.findUnexplainedLines(lines, [], explanations, 1), ['too slow 3']);
    const freeze = { kind: 'freeze', start: 1, end: 1 };
    deepStrictEqual(models.findUnexplainedLines(lines, [freeze], explanations, 0), []);
  });
});

describe('the model of the end', () => {
  const machine = (more: Partial<models.EndState> = {}): models.EndState => ({
    refs: 'main a',
    uncommitted: '',
    readiness: 200,
    faults: [],
    responses: new Map([['/api/v2/bots', '[]']]),
    ...more,
  });
  const check = (more: Partial<models.EndState>): string =>
    models.findDifferences('main a', [machine(), machine(more)]).join();

  it('refuses machines that differ from the remote or from each other, or are not in order', () => {
    strictEqual(check({}), '');
    match(check({ refs: 'main b' }), /^machine 1 has other refs than the remote/);
    match(check({ uncommitted: ' M bots/001/1.en.md' }), /not committed: {2}M bots/);
    match(check({ readiness: 503 }), /is not ready: 503/);
    match(check({ faults: ['a fault'] }), /is not ready: 200 \["a fault"\]/);
    match(check({ responses: new Map([['/api/v2/bots', '[{}]']]) }), /serves at \/api\/v2\/bots/);
    match(check({ responses: new Map() }), /serves at \/api\/v2\/bots/);
  });

  it('refuses what a stopped machine leaves behind', () => {
    const clean = { files: [], worktrees: '/clone', broken: '', processes: [] };
    const files =
      '.git/index .git/objects/pack/tmp_pack_x .git/objects/pack/tmp_idx_x .git/index.lock bots/001/.tmp-1 var/a.tmp .git/fast_import_crash_7'.split(
        ' ',
      );
    deepStrictEqual(models.findLeftovers(clean), []);
    deepStrictEqual(models.findLeftovers({ ...clean, files }), files.slice(3));
    deepStrictEqual(models.findLeftovers({ ...clean, processes: ['git push'] }), ['the process git push']);
    match(models.findLeftovers({ ...clean, worktrees: '/clone\n/other' }).join(), /^a worktree/);
    match(models.findLeftovers({ ...clean, broken: 'missing blob' }).join(), /missing blob$/);
  });
});
