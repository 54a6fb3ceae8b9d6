import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('a service of systemd', () => {
  it('tells systemd how far the start is and to wait for it, when it is ready and when it stops, and stops cleanly where it cannot', async () => {
    const bin = tempFolder();
    const told = join(bin, 'told');
    const program = `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >>'${told}'\ntest "$1" != STOPPING=1\n`;
    writeFileSync(join(bin, 'systemd-notify'), program, { mode: 0o755 });
    const varFolder = tempFolder();
    execFileSync('mkfifo', [join(varFolder, 'index.snapshot')]);
    const env = { PATH: `${bin}:${process.env['PATH']}`, NOTIFY_SOCKET: '/run/systemd/notify' };
    const starting = startServiceProcess(testRepository({ [pagePath('1')]: mainPage() }).folder, {
      ...env,
      BOTSHELF_VAR: varFolder,
    });
    const lines = (): string[] => readFileSync(told, 'utf8').split('\n');
    const status = 'STATUS=reading the catalogue: 0 bots so far EXTEND_TIMEOUT_USEC=60000000';
    await eventually(() => deepStrictEqual(lines(), [`/run/systemd/notify ${status}`, '']));
    // Reading a pipe waits until somebody writes to it.
    writeFileSync(join(varFolder, 'index.snapshot'), '');
    const service = await starting;
    service.expectLog(/could not notify systemd of STOPPING=1: .+ set Type=exec/);
    await eventually(() =>
      strictEqual(lines()[1], `/run/systemd/notify READY=1 STATUS=ready at ${service.address}`),
    );
    strictEqual(await service.end('SIGTERM'), 0);
    strictEqual(lines()[2], '/run/systemd/notify STOPPING=1 STATUS=stopping');
  });
});
