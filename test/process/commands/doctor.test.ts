import { strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { tempFolder } from '../../support/temp-folder.ts';

describe('what botshelf doctor says of Git', () => {
  it('is its version in a folder too that this user must not enter, such as that of root', () => {
    const closed = tempFolder();
    const module = new URL('../../../src/commands/doctor.js', import.meta.url).href;
    const script = `console.log((await (await import('${module}')).checkGit()).state)`;
    const user = process.getuid?.() === 0 ? 'setpriv --reuid=65534 --regid=65534 --clear-groups' : '';
    const start = `chmod 0 . && exec ${user} "$0" --input-type=module --eval "$1"`;
    const args = ['-c', start, process.execPath, script];
    const state = execFileSync('sh', args, { cwd: closed, encoding: 'utf8' });
    chmodSync(closed, 0o700);
    strictEqual(state, 'ok\n');
  });
});
