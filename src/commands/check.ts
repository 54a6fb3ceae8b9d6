import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { readCommandConfig } from '../app/config.ts';
import { botsFolder } from '../catalogue/page/layout.ts';
import { ensureValid } from '../catalogue/page/side-file.ts';
import { readBlocked, blockedName } from '../catalogue/settings/blocked.ts';
import { settingsName } from '../catalogue/settings/settings.ts';
import { checkChanges } from '../check/check-changes.ts';
import { checkInThreads } from '../check/check.ts';
import { type Scope, createScope } from '../check/source.ts';
import { UserError, codeOf } from '../lib/errors.ts';
import { printReport, type ReportFormat, showFiles } from './output.ts';

export interface CheckFlags {
  readonly base?: string;
  readonly head?: string;
  /** The remote that `head` is fetched from. */
  readonly fetch?: string;
  readonly format: ReportFormat;
}

/** Checks the catalogue and prints the report; the exit code is 1 when it has errors. @throws {UserError} */
export async function check(paths: string[], { base, head, fetch, format }: CheckFlags): Promise<void> {
  const { catalogue: root, blocked: blockedFile } = readCommandConfig();
  if (head !== undefined && base === undefined) {
    throw new UserError('--head needs --base: name the revision to compare it with');
  }
  if (fetch !== undefined && head === undefined) {
    throw new UserError('--fetch needs --head: name the commit to fetch');
  }
  // A clone without a work tree has a catalogue too, in its commits.
  const scope = head !== undefined && paths.length === 0 ? 'everything' : toScope(root, paths);
  // The reasons are for maintainers, and a check of a pull request is public.
  const privateBlocked = blockedFile === null ? undefined : ensureValid(readBlocked(root, blockedFile));
  const report = await showFiles('checked', async (onProgress) =>
    base === undefined
      ? await checkInThreads(root, scope, { onProgress, privateBlocked })
      : await checkChanges(root, { base, head, from: fetch }, scope, { onProgress, privateBlocked }),
  );
  process.stdout.write(printReport(report, format, process.stdout));
  if (report.findings.some(({ severity }) => severity === 'error')) process.exitCode = 1;
}

/**
 * Returns the part of the catalogue below `root` that the paths of a command line name; everything without paths, or
 * with the settings among them, because their rules are about every bot.
 * @param paths absolute, or relative to the current folder
 * @throws {UserError} when a path does not exist or is not in the catalogue, or when there is no catalogue
 */
export function toScope(root: string, paths: readonly string[]): Scope {
  const bots = join(root, botsFolder);
  if (!isThere(bots)) {
    throw new UserError(`${bots} does not exist: set BOTSHELF_CATALOGUE to the folder that holds bots/`);
  }
  if (paths.length === 0) return 'everything';
  const realRoot = realpathSync(root);
  return createScope(paths.map((path) => toCataloguePath(realRoot, path)));
}

/** Returns the path relative to the catalogue's folder, with `/`. A link as the last part is not followed. */
function toCataloguePath(root: string, path: string): string {
  const absolute = resolve(path);
  if (path === '' || !isThere(absolute)) {
    throw new UserError(`${JSON.stringify(path)} does not exist: pass a file or folder of the catalogue`);
  }
  const below = relative(root, join(realpathSync(dirname(absolute)), basename(absolute))).replaceAll(
    sep,
    '/',
  );
  if (below === '' || below === settingsName || below === blockedName) return botsFolder;
  if (below === botsFolder || below.startsWith(`${botsFolder}/`)) return below;
  throw new UserError(
    `${JSON.stringify(path)} is not in the catalogue: pass a path below ${join(root, botsFolder)}`,
  );
}

/** Whether there is a file, a folder or a link. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A parent of the path is a file.
    if (codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}
