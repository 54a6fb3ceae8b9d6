import { join } from 'node:path';
import { failpoints } from '../../src/lib/failpoint.ts';
import { Committer } from '../../src/git/branch/committer.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import { silentLog } from '../../src/lib/log.ts';
import { keyEditor, setKey } from '../support/keys.ts';

/**
 * A process for the crash tests: commits changes of two files, one after the other, prints the number of each
 * that was answered, and dies at the named failpoint once two were.
 */
const [catalogue = '', failpointName = ''] = process.argv.slice(2);
const repositoryOpener = new RepositoryOpener(catalogue);
const committer = new Committer({
  repositoryOpener,
  var: join(catalogue, 'var'),
  editor: keyEditor,
  log: silentLog,
});
await committer.recover();
for (let n = 0; ; n++) {
  if (n === 2) failpoints.armed = failpointName;
  await Promise.all(
    ['bots/001/1.en.md', 'bots/002/2.en.md'].map(
      async (path) => await committer.commit(setKey(path, `key${n}`, n)),
    ),
  );
  process.stdout.write(`${n}\n`);
  await new Promise((resolve) => setTimeout(resolve, n % 3 === 0 ? 40 : 0));
}
