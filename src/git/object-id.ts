import { hash } from 'node:crypto';

export type HashName = 'sha1' | 'sha256';

/** The id that Git gives an object of this type and content. */
export function objectId(type: 'blob' | 'tree', content: Buffer, algorithm: HashName): string {
  return hash(algorithm, Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]));
}

/** The id that Git gives a file of these bytes. */
export function blobId(content: Buffer, algorithm: HashName): string {
  return objectId('blob', content, algorithm);
}
