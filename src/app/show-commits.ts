import type { Catalogue } from '../catalogue/store/catalogue.ts';
import { parsePagePath } from '../catalogue/page/layout.ts';
import type { CommitListener } from '../git/commit/branch-writer.ts';
import { forEachInSlices } from '../lib/time-slice.ts';

/**
 * Returns a subscriber that shows commits in the catalogue without waiting for the watcher. A posted change is shown at
 * once, as its response waits for it; the files of a merge, which may be thousands, in slices of time.
 * @param prefix the catalogue's folder relative to the top of the repository: empty, or ending in a slash
 */
export function showCommits(catalogue: Pick<Catalogue, 'put' | 'look'>, prefix: string): CommitListener {
  const toOwnPath = (path: string): string[] => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []);
  return (event) => {
    if (event.ref !== 'branch') return;
    const { changes, contents } = event;
    if (contents) {
      const own = [...contents].flatMap(([path, bytes]) => toOwnPath(path).map((at) => [at, bytes] as const));
      return catalogue.put(new Map(own));
    }
    const groups = new Map<string, string[]>();
    for (const path of changes.flatMap((change) => toOwnPath(change.path))) {
      const key = parsePagePath(path)?.id ?? path;
      groups.set(key, [...(groups.get(key) ?? []), path]);
    }
    void forEachInSlices(groups.values(), (paths) => catalogue.look(paths), 'service');
  };
}
