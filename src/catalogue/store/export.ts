import { createHash } from 'node:crypto';
import type { BotId } from '../../bot/id.ts';
import { parseTree, computeBlobId } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { forEachInSlices } from '../../lib/time-slice.ts';
import { botsFolder, type FilePlace, folderOf, parseFilePath, pathOf } from '../page/layout.ts';
import { readFileText } from '../page/page-file.ts';
import type { IndexedBot } from './bot-index.ts';

/** Returns the places of a bot's files in a commit, each with its blob. @throws {GitError} */
export async function readCommittedPages(
  { objects, hash, prefix }: Pick<Repository, 'objects' | 'hash' | 'prefix'>,
  commit: string,
  id: BotId,
): Promise<{ readonly place: FilePlace; readonly blob: string }[]> {
  const folder = `${botsFolder}/${folderOf(id)}`;
  const tree = await objects.readOne(`${commit}:${prefix}${folder}`);
  const entries = tree?.type === 'tree' ? [...parseTree(tree.content, hash)] : [];
  return entries.flatMap(([name, { mode, id: blob }]) => {
    const place = name.startsWith(`${id}.`) ? parseFilePath(`${folder}/${name}`) : undefined;
    return place && mode.startsWith('100') ? [{ place, blob }] : [];
  });
}

/**
 * Yields one line of JSON a bot: the record, and in `files` the path and the text of each file in the version that is
 * served. A file whose version is neither on disk nor in Git any more is left out of `files`.
 * @param root the folder that holds `bots/`
 * @param repository undefined if there is none
 */
export async function* exportLines(
  bots: readonly IndexedBot[],
  root: string,
  repository: Pick<Repository, 'hash' | 'objects'> | undefined,
): AsyncGenerator<Buffer> {
  for (const { id, record, files } of bots) {
    const texts: { path: string; text: string }[] = [];
    for (const { locale, sha } of files) {
      const path = pathOf(id, locale);
      let text = readFileText(root, path);
      if (text === undefined || computeBlobId(Buffer.from(text), repository?.hash ?? 'sha1') !== sha)
        text = (await repository?.objects.readOne(sha).catch(() => undefined))?.content.toString();
      if (text !== undefined) texts.push({ path, text });
    }
    yield Buffer.concat([record.subarray(0, -1), Buffer.from(`,"files":${JSON.stringify(texts)}}\n`)]);
  }
}

/** Returns what differs between two exports of different bots. */
export async function computeExportDigest(bots: readonly IndexedBot[]): Promise<string> {
  const hash = createHash('sha1');
  await forEachInSlices(bots, ({ digest, files }) => {
    hash.update(`${digest} ${files.map(({ sha }) => sha).join(' ')}\n`);
  });
  return hash.digest('base64url');
}
