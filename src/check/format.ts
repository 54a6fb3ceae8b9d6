import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalForm } from '../catalogue/page/canonical-form.ts';
import { compareFaults, type Fault, fileFault } from '../catalogue/page/fault.ts';
import { groupByBot, listNames, listTop } from '../catalogue/load/folder.ts';
import { botsFolder, fileName, isFolderName } from '../catalogue/page/layout.ts';
import { readPageFile } from '../catalogue/page/page-file.ts';
import { writeAtomically } from '../disk/atomic-write.ts';
import { namesInScope, type Scope } from './scope.ts';

export interface FormatReport {
  /** The number of page files that were read. */
  readonly files: number;
  /** The paths of files that were not in canonical form, in order. */
  readonly changed: readonly string[];
  /** Why files were left as they are. */
  readonly faults: readonly Fault[];
}

/**
 * Brings the page files in a part of the catalogue into canonical form. A file that cannot be parsed or has no place in the
 * catalogue is left as it is.
 * @param write whether files are written; if not, this only finds which would change
 * @throws when `bots/` or a folder in it cannot be read, or a file cannot be written
 */
export async function formatCatalogue(
  root: string,
  scope: Scope,
  write: boolean,
  onProgress: (files: number) => void,
): Promise<FormatReport> {
  const changed: string[] = [];
  const faults: Fault[] = [];
  let files = 0;
  for (const top of listTop(root).filter(isFolderName)) {
    const names = namesInScope(scope, top);
    if (names === undefined) continue;
    const { bots, misplaced } = groupByBot(top, listNames(root, top));
    const isWanted = (name: string): boolean => names === 'everything' || names.has(name);
    for (const [name, { rule, message }] of misplaced) {
      if (isWanted(name)) faults.push(fileFault(`${botsFolder}/${top}/${name}`, rule, message));
    }
    for (const place of [...bots.values()].flat()) {
      const file = isWanted(fileName(place)) ? readPageFile(root, place) : undefined;
      if (file === undefined) continue;
      files += 1;
      if (file.page === undefined) {
        faults.push(...file.faults);
        continue;
      }
      const absolute = join(root, file.path);
      const text = await readFile(absolute, 'utf8');
      const canonical = canonicalForm(text);
      if (canonical === text) continue;
      if (write) {
        const mode = (await lstat(absolute)).mode & 0o7777;
        await writeAtomically(absolute, canonical, { fsync: 'content', mode });
      }
      changed.push(file.path);
    }
    onProgress(files);
  }
  return { files, changed: changed.toSorted(), faults: faults.toSorted(compareFaults) };
}
