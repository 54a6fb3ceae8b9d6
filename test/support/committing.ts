import { join } from 'node:path';
import {
  Committer,
  type CommitterOptions,
  type Editor,
  type FileEdit,
} from '../../src/git/branch/committer.ts';
import { silentLog } from '../../src/lib/log.ts';
import { cleanUp } from './cleanup.ts';
import { type KeyEdit, keyEditor } from './keys.ts';
import { openerOf } from './opened.ts';

/** A committer of keys on a folder of a repository; it is closed when the tests of the file are over. */
export function committerOn(
  catalogue: string,
  options: Partial<
    Pick<CommitterOptions<KeyEdit>, 'log' | 'maxLockWaitMs' | 'branch' | 'repositoryOpener'>
  > = {},
): Committer<KeyEdit> {
  return committerWith(keyEditor, catalogue, options);
}

/** The same with another editor. */
export function committerWith<E extends FileEdit>(
  editor: Editor<E>,
  catalogue: string,
  options: Partial<CommitterOptions<E>> = {},
): Committer<E> {
  const repositoryOpener = openerOf(catalogue);
  const committer = new Committer({
    repositoryOpener,
    var: join(catalogue, 'var'),
    editor,
    log: silentLog,
    ...options,
  });
  cleanUp(async () => await committer.close());
  return committer;
}
