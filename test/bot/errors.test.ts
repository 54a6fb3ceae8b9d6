import { doesNotMatch, strictEqual } from 'node:assert/strict';
import { toWriteError } from '../../src/bot/errors.ts';

describe('the error for a failed write', () => {
  const fail = (code: string, text: string): Error =>
    Object.assign(new Error(`${code}: ${text}, open '/srv/var/journal/000000000012.ndjson'`), { code });

  it('says to free space on the disk, and never in the folder of the counts', () => {
    const error = fail('ENOSPC', 'no space left on device');
    const { code, message } = toWriteError(error, '/srv/var/journal');
    strictEqual(code, 'disk-full');
    strictEqual(
      message,
      'the disk is full: free space on the disk of BOTSHELF_VAR, writes resume by themselves',
    );
    strictEqual(
      toWriteError(error).message,
      'the disk is full: free space on the disk of the repository, writes resume by themselves',
    );
  });

  it('has the folder, and not the file, which may be another one at each try', () => {
    for (const [code, text] of [
      ['EROFS', 'read-only file system'],
      ['EACCES', 'permission denied'],
      ['ENXIO', 'no such device or address'],
    ] as const) {
      const { message } = toWriteError(fail(code, text), '/srv/var/journal');
      strictEqual(message.startsWith('/srv/var/journal '), true);
      strictEqual(message.includes(`(${code}: ${text})`), true, message);
      doesNotMatch(message, /ndjson/);
    }
  });
});
