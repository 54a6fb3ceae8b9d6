import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** The hash function of a repository's object ids. */
export type HashName = 'sha1' | 'sha256';

/** Returns the blob id of a file with these bytes. */
export function computeBlobId(content: Buffer, algorithm: HashName): string {
  return hash(algorithm, Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]));
}

/** Returns the blob id of a file of `size` bytes on disk, which is read in pieces. @throws a system error */
export async function streamBlobId(path: string, size: number, algorithm: HashName): Promise<string> {
  const id = createHash(algorithm).update(`blob ${size}\0`);
  for await (const piece of createReadStream(path)) id.update(piece as Buffer);
  return id.digest('hex');
}
