import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { botsFolder } from '../catalogue/page/layout.ts';
import { blockedName } from '../catalogue/settings/blocked.ts';
import { settingsName } from '../catalogue/settings/settings.ts';
import { type Scope, createScope } from '../check/source.ts';
import { codeOf, UserError } from '../lib/errors.ts';

/**
 * Returns the part of the catalogue below `root` that the paths of a command line name; everything when there are none, or
 * the settings are among them, whose rules are about every bot.
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
    // What is above it is a file.
    if (codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}
