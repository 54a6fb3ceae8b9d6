import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../lib/errors.ts';

/** The settings that hold a secret. Each can be given as a file; an address of a remote may have a password in it. */
export const secretSettings: readonly string[] = [
  'BOTSHELF_SECRET',
  'BOTSHELF_OAUTH_CLIENT_SECRET',
  'BOTSHELF_WEBHOOK_SECRET',
  'BOTSHELF_REMOTE',
];

/**
 * Reads the secrets that are given as files: the file that `<NAME>_FILE` names, or the file `<NAME>` in the folder of
 * systemd's credentials. One newline at the end is removed.
 * @param faults gets a sentence for each file that cannot be used, and for each secret that is given twice
 */
export function readSecretFiles(env: NodeJS.ProcessEnv, faults: string[]): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>();
  const credentials = env['CREDENTIALS_DIRECTORY'];
  for (const name of secretSettings) {
    const variable = `${name}_FILE`;
    const credential = credentials ? join(credentials, name) : undefined;
    const given = [
      ...(env[name]?.trim() ? [{ source: name }] : []),
      ...(env[variable]?.trim() ? [{ source: variable, path: env[variable].trim() }] : []),
      ...(credential && existsSync(credential)
        ? [{ source: `the credential ${name} of systemd`, path: credential }]
        : []),
    ];
    const [first, second] = given;
    if (first && second) {
      faults.push(`${first.source} and ${second.source} are both set: keep one of them.`);
    } else if (first && 'path' in first) {
      try {
        secrets.set(name, readSecret(first.path));
      } catch (error) {
        faults.push(
          `${first.source} cannot be used: ${messageOf(error)}. Name a text file that the service's user can read.`,
        );
      }
    }
  }
  return secrets;
}

/** @throws {Error} where the file cannot be read, is too large, or holds no text */
function readSecret(path: string): string {
  // Opening a pipe would wait for its writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a file`);
    const bytes = Buffer.alloc(maxSecretBytes + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (length > maxSecretBytes) throw new Error(`${path} has more than ${maxSecretBytes} bytes`);
    const text = new TextDecoder('utf-8', { fatal: true })
      .decode(bytes.subarray(0, length))
      .replace(/\r?\n$/, '');
    if (text.trim() === '') throw new Error(`${path} is empty`);
    if (text.includes('\0')) throw new Error(`${path} is not a text file`);
    return text;
  } catch (error) {
    throw error instanceof TypeError ? new Error(`${path} is not UTF-8`, { cause: error }) : error;
  } finally {
    closeSync(file);
  }
}

const maxSecretBytes = 16_384;
