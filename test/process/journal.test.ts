import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deepStrictEqual } from 'node:assert/strict';
import { mainFile } from '../support/command-line.ts';
import { tempFolder } from '../support/temp-folder.ts';

const script = `
import { createLog } from ${JSON.stringify(new URL('../../src/lib/log.js', import.meta.url).href)};
import { isJournal } from ${JSON.stringify(new URL('../../src/app/config.js', import.meta.url).href)};
const log = await createLog({ level: 'debug', format: null, isJournal: isJournal() });
for (const level of ['error', 'warn', 'info', 'debug']) log[level]({}, level);`;

describe('the log in the journal of systemd', () => {
  const logWith = (stream?: string, args = ['--input-type=module', '-e', script]): string[] => {
    const path = join(tempFolder(), 'log');
    const file = openSync(path, 'w');
    const { dev, ino } = fstatSync(file);
    const env = { JOURNAL_STREAM: stream ?? `${dev}:${ino}`, PORT: 'x', BOTSHELF_ACK: 'y' };
    spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', file], env });
    closeSync(file);
    return readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.slice(0, 4));
  };

  it('begins each line with its priority, so that "journalctl -p err" finds errors', () => {
    deepStrictEqual(logWith(), ['<3>{', '<4>{', '<6>{', '<7>{']);
  });

  it('has the reason of exit status 2 as an error, each of its lines', () => {
    const lines = [mainFile, 'serve'];
    deepStrictEqual(logWith(undefined, lines), ['<3>P', '<3>B', '<3>B']);
    deepStrictEqual(logWith('8:1', lines), ['PORT', 'BOTS', 'BOTS']);
  });

  it('has no priorities where standard error leads elsewhere', () => {
    deepStrictEqual(logWith('8:1'), ['{"le', '{"le', '{"le', '{"le']);
  });
});
