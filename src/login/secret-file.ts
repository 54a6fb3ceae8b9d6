import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../system-error.ts';

/**
 * The secret that a service without BOTSHELF_SECRET seals its cookies with: made once, kept in `folder` for the
 * service's account alone.
 * @throws a system error
 */
export async function readSecretFile(folder: string): Promise<string> {
  const path = join(folder, 'cookie-secret');
  return (await read(path)) ?? (await make(path));
}

async function read(path: string): Promise<string | undefined> {
  try {
    const secret = (await readFile(path, 'utf8')).trim();
    return secret.length >= 32 ? secret : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** It is there whole or not at all. */
async function make(path: string): Promise<string> {
  const secret = randomBytes(32).toString('hex');
  const temporary = `${path}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  try {
    await writeFile(temporary, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await rm(path, { force: true });
    await link(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  return secret;
}
