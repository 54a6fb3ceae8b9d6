import type { ChangedFile } from '../git/changed-files.ts';
import { findingsOfChange, findingsOfPath, formerMainPages } from './change-rules.ts';
import { byPlace, checkCatalogue, type CheckReport } from './check.ts';
import { botsFolder } from './layout.ts';
import { maxFileSize } from './page.ts';
import { isInScope, type Scope, scopeOf } from './scope.ts';
import { findingsOfLeak } from './token-leak.ts';

/**
 * Holds the bots of which a file changed against every rule, and the change itself against the rules about
 * change. Of `changes`, what is outside `bots/` is looked through for tokens only, and that when `scope` is everything.
 * @throws when `bots/` or a folder in it cannot be read.
 */
export function checkChanges(
  root: string,
  scope: Scope,
  changes: readonly ChangedFile[],
  onProgress?: (files: number) => void,
): CheckReport {
  const inScope = changes.filter(({ path }) => isInScope(scope, path));
  const own = inScope.flatMap((change) => [
    ...findingsOfPath(change),
    ...(change.kind === 'file' ? findingsOfLeak(root, change.path, sizeLimit(change)) : []),
  ]);
  if (inScope.some(({ path, kind }) => path === botsFolder && kind !== 'gone')) {
    return { files: inScope.length, findings: own.toSorted(byPlace) };
  }
  const former = formerMainPages(changes);
  const paths = inScope.flatMap(({ path, previousPath }) => [path, previousPath ?? path]);
  const changed = new Set(paths);
  const report = checkCatalogue(root, scopeOf(paths.filter((path) => path.startsWith(`${botsFolder}/`))), {
    rulesOfBot: (id, files) => findingsOfChange(files, former.get(id), changed),
    ...(onProgress && { onProgress }),
  });
  const said = new Set(own.map(({ path, rule }) => `${rule} ${path}`));
  const others = report.findings.filter(({ path }) => !said.has(`submodule ${path}`));
  return { files: report.files, findings: [...own, ...others].toSorted(byPlace) };
}

/** A page that is too large is refused for that. */
function sizeLimit({ path }: ChangedFile): number {
  return path.startsWith(`${botsFolder}/`) ? maxFileSize : Number.POSITIVE_INFINITY;
}
