import { join } from 'node:path';
import type { GitFile } from './branch-move.ts';
import { fsyncFolders } from './durable.ts';
import { fastImport, quotePath } from './fast-import.ts';
import type { Repository } from './repository.ts';

/** What a file becomes: new bytes, a blob that is there, or nothing. */
export type Written = { readonly mode: string; readonly content: Buffer } | GitFile | null;

/** A commit with any parents, on no ref. */
export interface WrittenCommit {
  readonly parents: readonly string[];
  /** What the commit's tree begins as. */
  readonly tree: string;
  /** Path from the top of the repository → what it becomes in that tree. */
  readonly files: ReadonlyMap<string, Written>;
  readonly message: string;
}

/** Makes the commit, durably, and gives its id. It is on no ref yet. @throws {GitExit} */
export async function writeCommit(repository: Repository, commit: WrittenCommit): Promise<string> {
  const input = streamOf(commit, repository.identity);
  const id = (await repository.run(['-c', 'fastimport.unpackLimit=1', ...fastImport], { input })).trim();
  await fsyncFolders([join(repository.commonDir, 'objects/pack')]);
  return id;
}

/** The commit is made below a ref that is forgotten at the end: only objects are written. */
function streamOf({ parents, tree, files, message }: WrittenCommit, identity: string): Buffer {
  const [first, ...others] = parents;
  const text = Buffer.from(message);
  const parts: (string | Buffer)[] = [
    `commit ${ref}\nmark :1\ncommitter ${identity} ${Math.floor(Date.now() / 1000)} +0000\n`,
    `data ${text.length}\n`,
    text,
    '\n',
    first === undefined ? '' : `from ${first}\n`,
    ...others.map((parent) => `merge ${parent}\n`),
    `M 040000 ${tree} \n`,
  ];
  // What goes makes room for what comes: a file where a folder was.
  const inOrder = [...files].toSorted(([, a], [, b]) => Number(b === null) - Number(a === null));
  for (const [path, file] of inOrder) {
    const name = quotePath(path);
    if (file === null) parts.push(`D ${name}\n`);
    else if ('id' in file) parts.push(`M ${file.mode} ${file.id} ${name}\n`);
    else parts.push(`M ${file.mode} inline ${name}\ndata ${file.content.length}\n`, file.content, '\n');
  }
  parts.push(`get-mark :1\nreset ${ref}\n\ndone\n`);
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

const ref = 'refs/botshelf/writing';
