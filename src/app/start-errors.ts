import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { botsFolder } from '../catalogue/page/layout.ts';
import { listTop } from '../catalogue/store/folder.ts';
import type { Origin } from '../git/origin.ts';
import { removeCredentials } from '../git/process/run-git.ts';
import { codeOf, messageOf, UserError } from '../lib/errors.ts';
import type { Config } from './config.ts';

/**
 * @param restoreFolder makes `bots/` where Git removed it with the last bot
 * @throws {UserError} when the catalogue's folder cannot be read
 */
export async function ensureCatalogue(config: Config, restoreFolder: () => Promise<void>): Promise<void> {
  try {
    if (!existsSync(join(config.catalogue, botsFolder))) await restoreFolder().catch(throwUserError);
    listTop(config.catalogue);
  } catch (error) {
    throw error instanceof UserError ? error : toCatalogueError(error, config);
  }
}

/** Other errors appear again when the catalogue is read. */
function throwUserError(error: unknown): void {
  if (error instanceof UserError) throw error;
}

/** Returns the error for a catalogue that cannot be read, with the setting to change. */
export function toCatalogueError(error: unknown, { catalogue }: Pick<Config, 'catalogue'>): UserError {
  if (codeOf(error) === 'ENOENT') {
    return new UserError(
      `${catalogue} has no folder bots/: make a catalogue with “botshelf init DIR”, or set BOTSHELF_CATALOGUE to one`,
    );
  }
  return new UserError(
    `the catalogue ${catalogue} cannot be read: ${messageOf(error)}. Set BOTSHELF_CATALOGUE to the folder that holds bots/`,
  );
}

/** Returns the error for a `var` folder that cannot be used, with the setting to change; a UserError as it is. */
export function toVarError(error: unknown, config: Config): UserError {
  if (error instanceof UserError) return error;
  return new UserError(
    `${config.var} cannot be used: ${messageOf(error)}. Set BOTSHELF_VAR to a writable folder`,
  );
}

/** Returns the error for an address that cannot be listened on. @param setting the one with the port */
export function toAddressError(error: unknown, host: string, port: number, setting: string): UserError {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new UserError(
        `port ${port} is in use: stop what listens there, or set ${setting} to another one`,
      );
    case 'EACCES':
      return new UserError(`port ${port} may not be used: set ${setting} to one above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new UserError(
        `${host} is not an address of this machine: set HOST to one that is, such as 127.0.0.1`,
      );
    default:
      return new UserError(`cannot listen on ${host}, port ${port}: ${messageOf(error)}`);
  }
}

/**
 * Returns a sentence for the operator of a clone that is not kept in step with its Git host; null where it is, where
 * there is no host, while somebody edits the catalogue with BOTSHELF_DEV, and for a trial, which has no public address.
 */
export function createRemoteNotice(
  { remote, dev, isBaseUrlSet }: Pick<Config, 'remote' | 'dev' | 'isBaseUrlSet'>,
  origin: Origin | null,
): string | null {
  if (origin === null || remote !== null || dev || !isBaseUrlSet) return null;
  return (
    `the clone has the remote origin (${removeCredentials(origin.remote)}), but BOTSHELF_REMOTE is not set: ` +
    'merged pull requests do not arrive here and posts are not pushed; set BOTSHELF_REMOTE=origin, ' +
    'or run "git remote remove origin" where this clone stands alone'
  );
}
