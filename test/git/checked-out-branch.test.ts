import { match, strictEqual } from 'node:assert/strict';
import { CheckedOutBranch } from '../../src/git/checked-out-branch.ts';
import { silentLog } from '../../src/lib/log.ts';
import { cleanUp } from '../support/cleanup.ts';
import { openerOf } from '../support/opened.ts';
import { eventually } from '../support/eventually.ts';
import { recordedLog } from '../support/recorded-log.ts';
import { testRepository } from '../support/repository.ts';

describe('the branch that is checked out', () => {
  it('is named when it is another than at the start, in the log too, with a command that keeps its commits', async () => {
    const { folder, git, commit, tryGit } = testRepository({ 'a.txt': '1\n' });
    const log = recordedLog();
    const checkedOut = new CheckedOutBranch(openerOf(folder), log);
    cleanUp(async () => await checkedOut.close());
    await checkedOut.look();
    strictEqual(checkedOut.fault(), null);
    git('switch', '-q', '-c', 'trial');
    const fault = checkedOut.fault() ?? '';
    match(fault, /^the clone is on the branch trial, and the service began on main: /);
    checkedOut.start();
    await eventually(() => strictEqual(log.lines[0], `error: ${fault}`));

    commit({ 'b.txt': 'posted there\n' });
    for (const command of (/run "(.+)"/.exec(fault)?.[1] ?? '').split(' && '))
      strictEqual(tryGit(...command.split(' ').slice(1)), 0, command);
    strictEqual(checkedOut.fault(), null);
    strictEqual(git('show', 'main:b.txt'), 'posted there');
  });

  it('is not named where HEAD is on no branch, which is a fault of its own', async () => {
    const { folder, git } = testRepository({ 'a.txt': '1\n' });
    const checkedOut = new CheckedOutBranch(openerOf(folder), silentLog);
    await checkedOut.look();
    git('switch', '-q', '--detach');
    strictEqual(checkedOut.fault(), null);
  });
});
