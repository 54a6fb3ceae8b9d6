import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from '../lib/atomic-write.ts';
import { ignoreMissing } from '../lib/errors.ts';

/**
 * Reads the secret that seals cookies where BOTSHELF_SECRET is not set. Creates it at the first call, in `folder`, readable
 * only for the service's account.
 * @throws a system error
 */
export async function readSecretFile(folder: string): Promise<string> {
  const path = join(folder, 'cookie-secret');
  const secret = (await ignoreMissing(readFile(path, 'utf8')))?.trim() ?? '';
  return secret.length >= 32 ? secret : await make(path);
}

async function make(path: string): Promise<string> {
  const secret = randomBytes(32).toString('hex');
  await writeAtomically(path, `${secret}\n`, { fsync: 'content', mode: 0o600 });
  return secret;
}
