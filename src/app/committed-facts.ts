import type { BotId } from '../bot/id.ts';
import { readBot } from '../catalogue/store/bot-reader.ts';
import { noLimits } from '../catalogue/page/rules.ts';
import { readCommittedPages } from '../catalogue/store/export.ts';
import { parsePageFile } from '../catalogue/page/page-file.ts';
import { parseSettings } from '../catalogue/settings/read-settings.ts';
import { type CatalogueSettings, settingsName, toSettings } from '../catalogue/settings/settings.ts';
import { parseTree } from '../git/objects/objects.ts';
import { type RepositoryOpener, toUnavailableError } from '../git/repository.ts';

/**
 * Reads the authors of a bot from its record in the last commit. Uncommitted edits and the index are ignored. Empty when
 * the commit has no valid bot of this id.
 * @throws {WritesUnavailableError} when there is no repository, or it cannot be read
 */
export async function readCommittedAuthors(
  repositoryOpener: RepositoryOpener,
  id: BotId,
): Promise<readonly string[]> {
  const repository = await repositoryOpener.open();
  try {
    const files = await readCommittedPages(repository, 'HEAD', id);
    const blobs = await repository.objects.read(files.map(({ blob }) => blob));
    const pages = files.map(({ place }, i) => parsePageFile(place, blobs[i]?.content ?? Buffer.alloc(0)));
    return readBot(id, pages, undefined, noLimits).bot?.facts.authors ?? [];
  } catch (error) {
    throw toUnavailableError(error);
  }
}

/**
 * Reads the settings from the last commit: they decide who is a maintainer. Uncommitted edits and the index are ignored, and
 * so is the logo. The defaults where the commit has no such file; undefined where the file has a fault. Reads one object
 * while the file stays the same.
 * @throws {WritesUnavailableError} when there is no repository, or it cannot be read
 */
export async function readCommittedSettings(
  repositoryOpener: RepositoryOpener,
): Promise<CatalogueSettings | undefined> {
  const { objects, hash, prefix } = await repositoryOpener.open();
  try {
    const folder = await objects.readOne(`HEAD:${prefix}`);
    const entry = folder && parseTree(folder.content, hash, new Set([settingsName])).get(settingsName);
    if (entry === undefined) return toSettings();
    if (!entry.mode.startsWith('100')) return undefined;
    if (lastParsed?.blob !== entry.id) {
      const blob = await objects.readOne(entry.id);
      lastParsed = { blob: entry.id, settings: blob && parseWithoutLogo(blob.content) };
    }
    return lastParsed.settings;
  } catch (error) {
    throw toUnavailableError(error);
  }
}

/** The settings that were read last. A blob of an id never changes. */
let lastParsed: { readonly blob: string; readonly settings: CatalogueSettings | undefined } | undefined;

function parseWithoutLogo(bytes: Buffer): CatalogueSettings | undefined {
  const { settings, faults } = parseSettings(bytes);
  return faults.every(({ rule }) => rule === 'logo') ? settings : undefined;
}
