import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { cleanUp } from '../../../support/cleanup.ts';
import { eventually } from '../../../support/eventually.ts';
import { mainPage, pagePath } from '../../../support/sample.ts';
import { tempFolder, writeFiles } from '../../../support/temp-folder.ts';
import { needs } from '../../../support/tools.ts';

/** Starts "$0" without watches, in a user namespace of its own, and allows some once it is told to. */
const script =
  'limit=/proc/sys/user/max_inotify_watches; echo 0 > $limit; (read -r _ <&3 && echo 1000 > $limit) & exec "$0" "$@"';

needs('unshare', describe)('a catalogue that may not watch any folder', () => {
  it('says so, follows its files by rounds, and watches them once it can @long', async () => {
    const root = tempFolder({
      [pagePath('7')]: mainPage({ name: 'Seven' }),
      [pagePath('30')]: mainPage({ name: 'Old' }),
    });
    const module = fileURLToPath(new URL('print-catalogue.js', import.meta.url));
    const program = spawn('unshare', ['-Ur', 'sh', '-c', script, process.execPath, module, root, '3'], {
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
    });
    cleanUp(() => program.kill('SIGKILL'));
    let output = '';
    program.stdout?.on('data', (data) => (output += String(data)));
    const state = (): { names: string[]; watcherFault: string | null } =>
      JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');

    await eventually(() => match(state().watcherFault ?? '', /^the limit of inotify .* is reached: raise /));
    deepStrictEqual(state().names, ['Seven', 'Old']);
    writeFiles(root, {
      [pagePath('30')]: mainPage({ name: 'New' }),
      [pagePath('8')]: mainPage({ name: 'Eight' }),
    });
    rmSync(join(root, pagePath('7')));
    await eventually(() => deepStrictEqual(state().names, ['Eight', 'New']));
    match(state().watcherFault ?? '', /^the limit of inotify /);
    (program.stdio[3] as Writable).end('\n');
    await eventually(() => strictEqual(state().watcherFault, null));
  });
});
