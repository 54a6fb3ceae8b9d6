import type { Scanner } from '../catalogue/store/scanner.ts';
import type { WatchedFolder } from '../catalogue/store/watched-folder.ts';
import type { Catalogue } from '../catalogue/store/catalogue.ts';
import { settingsName } from '../catalogue/settings/settings.ts';
import { type PagePlace, parsePagePath } from '../catalogue/page/layout.ts';
import { forEachInSlices } from '../lib/in-slices.ts';
import type { BotId } from '../bot/id.ts';
import type { CommitListener } from '../git/commit-events.ts';

/**
 * Returns a subscriber that shows commits in the catalogue without waiting for the watcher. A posted change is shown at
 * once, as its response waits for it; the files of a merge, which may be thousands, in slices of time.
 * @param folders those beside `bots/`
 * @param prefix the catalogue's folder relative to the top of the repository: empty, or ending in a slash
 */
export function showCommits(
  scanner: Pick<Scanner, 'put' | 'read'>,
  settings: Pick<Catalogue['settings'], 'read'>,
  folders: readonly Pick<WatchedFolder<unknown>, 'name' | 'read' | 'readFiles'>[],
  prefix: string,
): CommitListener {
  return (event) => {
    if (event.ref !== 'branch') return;
    const { changes, contents } = event;
    const paths = contents ? [...contents.keys()] : changes.map(({ path }) => path);
    for (const folder of folders) {
      const top = `${prefix}${folder.name}/`;
      const names = paths.flatMap((path) => (path.startsWith(top) ? path.slice(top.length) : []));
      if (contents) folder.readFiles(names);
      else if (names.length > 0) void folder.read();
    }
    if (contents) {
      const pages = [...contents].flatMap(([path, bytes]) => {
        const place = parsePagePath(path, prefix);
        return place ? [[place, bytes] as const] : [];
      });
      scanner.put(new Map(pages));
      return;
    }
    if (changes.some(({ path }) => path === prefix + settingsName)) void settings.read();
    const places = new Map<BotId, PagePlace[]>();
    for (const { path } of changes) {
      const place = parsePagePath(path, prefix);
      if (place) places.set(place.id, [...(places.get(place.id) ?? []), place]);
    }
    void forEachInSlices(places.values(), (ofBot) => scanner.read(ofBot), 'service');
  };
}
