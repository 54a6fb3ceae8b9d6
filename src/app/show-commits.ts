import type { Scanner } from '../catalogue/store/scanner.ts';
import type { WatchedSettings } from '../catalogue/settings/watched-settings.ts';
import { settingsName } from '../catalogue/settings/settings.ts';
import { type PagePlace, parsePagePath } from '../catalogue/page/layout.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import type { CommitListener } from '../git/commit-events.ts';

/**
 * Returns a subscriber that shows commits in the catalogue without waiting for the watcher. A posted change is shown at
 * once, as its response waits for it; the files of a merge, which may be thousands, some at a time.
 * @param prefix the catalogue's folder relative to the top of the repository: empty, or ending in a slash
 */
export function showCommits(
  scanner: Pick<Scanner, 'put' | 'read'>,
  settings: Pick<WatchedSettings, 'read'>,
  prefix: string,
): CommitListener {
  const waiting: PagePlace[] = [];
  let isReading = false;
  const readWaiting = async (): Promise<void> => {
    isReading = true;
    const slice = new TimeSlice('service');
    while (waiting.length > 0) {
      scanner.read(waiting.splice(0, filesAtOnce));
      if (slice.isOver) await slice.next();
    }
    isReading = false;
  };
  return (event) => {
    if (event.ref !== 'branch') return;
    const { changes, contents } = event;
    if (contents) {
      const pages = [...contents].flatMap(([path, bytes]) => {
        const place = parsePagePath(path, prefix);
        return place ? [[place, bytes] as const] : [];
      });
      scanner.put(new Map(pages));
      return;
    }
    if (changes.some(({ path }) => path === prefix + settingsName)) void settings.read();
    waiting.push(...changes.flatMap(({ path }) => parsePagePath(path, prefix) ?? []));
    if (!isReading) void readWaiting();
  };
}

/** Some milliseconds of work. */
const filesAtOnce = 16;
