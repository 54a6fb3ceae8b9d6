import { dirname, join } from 'node:path';
import type { FileChange } from '../file-change.ts';
import { symbolicLink } from '../objects/tree.ts';
import { readStatIfPresent } from './work-tree.ts';

/**
 * Returns whether the path of a change is, for git and every system, inside the work tree and outside of Git's own
 * folder.
 */
export function isSafePath({ path, after }: Pick<FileChange, 'path' | 'after'>): boolean {
  const isLink = after?.mode === symbolicLink;
  return path
    .split('/')
    .every(
      (name) =>
        !/^(?:|\.{1,2}|(?:\.git|git~1)[ .]*(?::.*)?)$|\\/i.test(name) &&
        !(isLink && /^(?:\.gitmodules|gitmod~|gi7eba)/i.test(name)),
    );
}

/**
 * Returns a function that throws where a folder above a path is a symbolic link, which may lead anywhere. It reads each
 * folder once.
 * @param top the work tree
 */
export function linkGuard(top: string): (path: string) => void {
  const plain = new Set<string>();
  return (path) => {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      if (plain.has(folder)) continue;
      if (readStatIfPresent(join(top, folder))?.isSymbolicLink())
        throw new Error(`${folder} is a symbolic link, make it a folder`);
      plain.add(folder);
    }
  };
}
