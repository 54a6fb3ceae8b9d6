import { strictEqual } from 'node:assert/strict';
import { openCounts } from '../../src/counts/counts.ts';
import { silentLog } from '../../src/lib/log.ts';
import { branchFeedOf } from '../support/branch.ts';
import { openerOf } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the counts of a service', () => {
  for (const [title, remote, writes] of [
    [
      'write a repeated count with a remote, where another machine may have a different one',
      { syncSeconds: 60 },
      3,
    ],
    ['write a repeated count once without a remote', null, 1],
  ] as const)
    it(title, async () => {
      const repository = testRepository();
      const { state, close } = openCounts({
        config: { var: tempFolder(), stateSeconds: 3600, remote, readOnly: null, demo: null },
        repositoryOpener: openerOf(repository.folder),
        branch: branchFeedOf(repository.folder),
        onEdited: () => {},
        log: silentLog,
      });
      await state.load();
      for (let n = 0; n < 3; n++) await state.setCount(botId('7'), 5);
      strictEqual(state.journal.writes, writes);
      await close();
    });
});
