import { createHash } from 'node:crypto';
import { computeBlobId } from '../../git/objects/object-id.ts';
import type { Repository } from '../../git/repository.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import { pathOf } from '../page/layout.ts';
import { readFileText } from '../page/page-file.ts';
import type { IndexedBot } from './bot-index.ts';

/**
 * Yields one line of JSON a bot: the record, and in `files` the path and the text of each file in the version that is
 * served. A file whose version is neither on disk nor in Git any more is left out of `files`.
 * @param root the folder that holds `bots/`
 * @param repository undefined where there is none
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
