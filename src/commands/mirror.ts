import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readMirrorConfig } from '../app/config.ts';
import { runCommandLineGit, removeCredentials, maxStallSeconds } from '../git/run-git.ts';
import { UserError } from '../lib/errors.ts';
import { fsyncFolder, fsyncTree, makeFolder } from '../lib/files.ts';
import { showGit } from './output.ts';
import { serve } from './serve.ts';

export interface MirrorOptions {
  readonly folder?: string;
  readonly port?: string;
  readonly canonical?: string;
}

/**
 * Serves a read-only copy of a list, until a signal. The first time it clones the catalogue into `<folder>/catalogue`.
 * @param given the Git address of the catalogue
 * @throws {UserError}
 */
export async function mirror(given: string, { folder, port, canonical }: MirrorOptions): Promise<void> {
  const address = toAddress(given);
  const parts = address.split(/[/:]/).filter((part) => part !== '' && part !== '.git');
  const name = parts.at(-1)?.replace(/\.git$/, '') ?? '';
  const top = resolve(folder ?? name);
  const catalogue = join(top, 'catalogue');
  const config = readMirrorConfig({
    BOTSHELF_CATALOGUE: catalogue,
    // Not in the clone, because the repository may have a folder of that name.
    BOTSHELF_VAR: join(top, 'var'),
    ...(port !== undefined && { PORT: port }),
    ...(canonical !== undefined && { BOTSHELF_CANONICAL_URL: canonical }),
  });
  if (!existsSync(catalogue)) await clone(address, top, catalogue);
  const origin = await runCommandLineGit(catalogue, ['config', '--get', 'remote.origin.url']);
  if (origin.trim() !== address)
    throw new UserError(
      `${top} is a copy of ${removeCredentials(origin.trim())}: pass another folder with --folder`,
    );
  await serve(config);
}

/** Returns the source for `git clone`: an address that runs no program, or the path of a folder. @throws {UserError} */
function toAddress(given: string): string {
  if (/^(?:https?|ssh|git|file):\/\/[^\s\p{Cc}-][^\s\p{Cc}]*$/u.test(given)) return given;
  if (/^\w[\w.-]*@\w[\w.-]*:[\w~/][\w.~/-]*$/.test(given)) return given;
  if (!given.startsWith('-') && statSync(given, { throwIfNoEntry: false })?.isDirectory())
    return resolve(given);
  throw new UserError(
    `${JSON.stringify(given)} is not the address of a Git repository: pass one such as https://git.example.org/people/list.git`,
  );
}

async function clone(address: string, top: string, catalogue: string): Promise<void> {
  const unfinished = `${catalogue}.unfinished`;
  await makeFolder(top);
  rmSync(unfinished, { recursive: true, force: true });
  process.stderr.write(`cloning ${removeCredentials(address)} into ${catalogue}\n`);
  await showGit(top, [...cloneOne, '--', address, unfinished], {
    stallSeconds: maxStallSeconds,
    explain: ({ stderr }) => `the repository cannot be cloned: ${stderr.trim() || 'git was killed'}`,
  });
  await fsyncTree(unfinished);
  renameSync(unfinished, catalogue);
  await fsyncFolder(top);
}

const cloneOne = [
  'clone',
  '--progress',
  '--no-tags',
  '--single-branch',
  '--no-recurse-submodules',
  '--template=',
];
