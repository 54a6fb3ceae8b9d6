import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../../schemas/types.ts';
import { readCommandConfig } from '../app/config.ts';
import { compareFaults, type Fault } from '../catalogue/page/fault.ts';
import {
  botsFolder,
  formatFileName,
  gitkeep,
  isFolderName,
  isPage,
  groupByBot,
  listTop,
} from '../catalogue/page/layout.ts';
import { pickCommands, printCommands } from '../bot/commands.ts';
import { readPageFile } from '../catalogue/page/page-file.ts';
import { toCanonicalForm, toCanonicalJson } from '../catalogue/page/page.ts';
import { peopleFolder } from '../catalogue/page/side-file.ts';
import { blockedName, parseBlocked, printBlocked } from '../catalogue/settings/blocked.ts';
import { readSettings, settingsName } from '../catalogue/settings/settings.ts';
import {
  toErrorFinding,
  parseSideFile,
  listNamesInScope,
  type Scope,
  createFolderSource,
  sideFolders,
} from '../check/check.ts';
import { writeAtomically } from '../lib/files.ts';
import { formatCount } from '../lib/text.ts';
import { showFiles, type ShowFiles } from './output.ts';
import { toScope, formatText } from './check.ts';

/** Rewrites files in their canonical form; the exit code is 1 when one cannot be read or would change. @throws {UserError} */
export async function format(paths: string[], { check = false }: { check?: boolean }): Promise<void> {
  const { catalogue: root } = readCommandConfig();
  const scope = toScope(root, paths);
  const { files, changed, faults } = await showFiles(
    'read',
    async (onProgress) => await formatCatalogue(root, scope, !check, onProgress),
  );
  const parts = [formatCount(files, 'file'), `${changed.length} ${check ? 'to format' : 'formatted'}`];
  if (faults.length > 0) parts.push(`${faults.length} left alone`);
  const lines = [
    ...changed,
    ...faults.map((fault) => formatText(toErrorFinding(fault), process.stdout)),
    parts.join(', '),
    '',
  ];
  process.stdout.write(lines.join('\n'));
  if (faults.length > 0 || (check && changed.length > 0)) process.exitCode = 1;
}

export interface FormatReport {
  /** The number of files that were read. */
  readonly files: number;
  /** The paths of files that were not in canonical form, in order. */
  readonly changed: readonly string[];
  /** Why files were left as they are. */
  readonly faults: readonly Fault[];
}

/**
 * Brings the page files in a part of the catalogue into canonical form; for the whole catalogue, also the settings,
 * profiles, collections and the block list. Leaves a file as it is if it has no place in the catalogue, or has faults
 * other than trailing commas that prevent parsing.
 * @param write whether files are written; if not, this only finds which would change
 * @throws when `bots/` or a folder in it cannot be read, or a file cannot be written
 */
export async function formatCatalogue(
  root: string,
  scope: Scope,
  write: boolean,
  onProgress: ShowFiles,
): Promise<FormatReport> {
  const changed: string[] = [];
  const faults: Fault[] = [];
  let files = 0;
  const source = createFolderSource(root);
  const rewrite = async (path: string, found: readonly Fault[], canonicalOf: (text: string) => string) => {
    files += 1;
    // The canonical form has no trailing commas.
    if (found.length > 0 && found[0]?.rule !== 'trailing-comma') return void faults.push(...found);
    const absolute = join(root, path);
    const text = await readFile(absolute, 'utf8');
    const canonical = canonicalOf(text);
    if (canonical === text) return;
    if (write) {
      const mode = (await lstat(absolute)).mode & 0o7777;
      await writeAtomically(absolute, canonical, { fsync: 'content', mode });
    }
    changed.push(path);
  };
  if (scope === 'everything') {
    const { found, settings, faults: ofSettings } = await readSettings(source.readFile);
    if (found)
      await rewrite(settingsName, settings ? [] : ofSettings, (text) => toCanonicalJson(text, 'settings'));
    const bytes = await source.readFile(blockedName);
    const blocked = parseBlocked(bytes);
    if (bytes !== undefined)
      await ('faults' in blocked
        ? rewrite(blockedName, blocked.faults, String)
        : rewrite(blockedName, [], () => printBlocked(blocked.value)));
    for (const folder of sideFolders)
      for (const name of (await source.list(folder)).keys()) {
        const path = `${folder}/${name}`;
        const bytes = await source.readFile(path);
        if (!Buffer.isBuffer(bytes) || name === gitkeep) continue;
        const parsed = parseSideFile(path, bytes);
        await rewrite(path, 'faults' in parsed ? parsed.faults : [], (text) =>
          folder === peopleFolder ? toCanonicalJson(text, 'profile') : toCanonicalForm(text, 'collection'),
        );
      }
  }
  const tops = listTop(root).filter(isFolderName);
  for (const [done, top] of tops.entries()) {
    const names = listNamesInScope(scope, top);
    if (names === undefined) continue;
    const { bots, misplaced } = groupByBot(top, (await source.list(`${botsFolder}/${top}`)).keys());
    const isWanted = (name: string): boolean => names === 'everything' || names.has(name);
    for (const [name, fault] of misplaced) if (isWanted(name)) faults.push(fault);
    for (const place of [...bots.values()].flat()) {
      const file = isWanted(formatFileName(place)) ? readPageFile(root, place) : undefined;
      if (file === undefined) continue;
      const { commands } = file.page?.data ?? {};
      await rewrite(file.path, file.page ? [] : file.faults, (text) =>
        isPage(place)
          ? toCanonicalForm(text)
          : printCommands(pickCommands(commands as Command[]) as Command[]),
      );
    }
    onProgress(files, (done + 1) / tops.length);
  }
  return { files, changed: changed.toSorted(), faults: faults.toSorted(compareFaults) };
}
