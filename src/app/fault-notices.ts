import { type Fault, maxFaults } from '../catalogue/page/fault.ts';
import { parsePagePath } from '../catalogue/page/layout.ts';
import { formatCount } from '../lib/text.ts';
import type { Notice } from '../proposals/notifications.ts';

/**
 * Sends a notice when files become faulty, one for all in a few seconds, as a merge may break many. A file is in no other
 * notice until it was fixed; one that is faulty now is in none.
 * @param store lists the faults of all files
 * @returns a function that looks once more, and stops
 */
export function noticeFaults(
  store: { readonly faults: () => readonly Fault[] },
  baseUrl: string,
  notify: (notice: Notice) => void,
): () => void {
  let known: ReadonlySet<string> = new Set(store.faults().map(({ path }) => path));
  const look = (): void => {
    const faults = store.faults();
    const added = faults.filter(({ path }) => !known.has(path));
    known = new Set(faults.map(({ path }) => path));
    const [first, ...more] = new Set(added.map(({ path }) => path));
    if (first === undefined) return;
    const title =
      more.length > 0 ? `${formatCount(more.length + 1, 'file')} are faulty` : `${first} is faulty`;
    const lines = added.map(({ path, line, column, message }) => `${path}:${line}:${column}: ${message}`);
    const text = lines.slice(0, maxFaults).join('\n');
    const id = parsePagePath(first)?.id;
    const url = more.length > 0 || id === undefined ? baseUrl : `${baseUrl}/bots/${id}`;
    notify({ kind: 'fault', title, text, url, at: Date.now() });
  };
  const timer = setInterval(look, lookEveryMs).unref();
  return () => {
    clearInterval(timer);
    look();
  };
}

const lookEveryMs = 5000;
