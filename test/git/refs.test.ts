import { rejects, strictEqual } from 'node:assert/strict';
import { readRef, updateRefs } from '../../src/git/refs.ts';
import type { Repository } from '../../src/git/repository.ts';
import { GitError } from '../../src/git/run-git.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';

const main = 'refs/heads/main';
const base = 'refs/botshelf/remote/base';

describe('refs that move together', () => {
  let repository: Repository;
  let [from, to] = ['', ''];
  beforeEach(async () => {
    const clone = testRepository({ file: 'text' });
    from = clone.git('rev-parse', 'HEAD');
    to = clone.git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'Next');
    repository = await openUntilEnd(clone.folder);
  });
  const updates = (): Map<string, { from: string | null; to: string }> =>
    new Map([
      [main, { from, to }],
      [base, { from: null, to }],
    ]);

  it('have moved where git has moved the first and failed at the second, which is tried again', async () => {
    let calls = 0;
    const run: Repository['run'] = async (args, options) => {
      if (args[0] !== 'update-ref' || ++calls > 1) return await repository.run(args, options);
      const [first = ''] = String(options?.input).split('update refs/botshelf');
      await repository.run(args, { ...options, input: first });
      throw new GitError(args, 128, "fatal: couldn't set 'refs/botshelf/remote/base'");
    };
    await updateRefs({ ...repository, run }, updates());
    strictEqual(await readRef(repository, main), to);
    strictEqual(await readRef(repository, base), to);
  });

  it('stay where they are when one of them is elsewhere', async () => {
    const wrong = new Map([...updates(), [base, { from: to, to: from }]]);
    await rejects(updateRefs(repository, wrong), { code: 'ref-conflict' });
    strictEqual(await readRef(repository, main), from);
  });
});
