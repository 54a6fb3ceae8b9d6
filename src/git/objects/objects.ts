import { BatchParser, type ObjectHeader, type ObjectSink, parseHeader } from './batch-parser.ts';
import { runCommandLineGit } from '../process/command-line-git.ts';

/** The bytes of the largest allowed file: every clone keeps it for good, and the service reads no larger one. */
export const maxObjectBytes = 10 * 1024 * 1024;

/** Returns id → type and size of those objects that exist here. */
export async function readHeaders(
  folder: string,
  ids: readonly string[],
): Promise<Map<string, ObjectHeader>> {
  if (ids.length === 0) return new Map();
  const output = await runCommandLineGit(folder, ['cat-file', '--batch-check'], { input: joinLines(ids) });
  const headers = output.split('\n').flatMap((line) => parseHeader(line) ?? []);
  return new Map(headers.map((header) => [header.id, header]));
}

/** Returns id → bytes of those objects that exist here and have at most `maxBytes` bytes. */
export async function readObjects(
  folder: string,
  ids: readonly string[],
  maxBytes: number,
): Promise<Map<string, Buffer>> {
  const headers = await readHeaders(folder, [...new Set(ids)]);
  const objects = new Map<string, Buffer>();
  await streamObjects(
    folder,
    [...headers].filter(([, { size }]) => size <= maxBytes).map(([id]) => id),
    (id) => {
      const pieces: Buffer[] = [];
      return {
        push: (piece) => void pieces.push(piece),
        end: () => void objects.set(id, Buffer.concat(pieces)),
      };
    },
  );
  return objects;
}

/** Reads objects one after the other, each in pieces, so that none has to fit into memory. */
export async function streamObjects(
  folder: string,
  ids: readonly string[],
  sinkOf: (id: string) => ObjectSink,
): Promise<void> {
  if (ids.length === 0) return;
  const parser = new BatchParser((header) => header && sinkOf(header.id));
  const take = (piece: Buffer): void => parser.push(piece);
  await runCommandLineGit(folder, ['cat-file', '--batch'], { input: joinLines(ids), take });
}

function joinLines(ids: readonly string[]): string {
  return ids.map((id) => `${id}\n`).join('');
}
