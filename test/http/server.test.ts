import { ok, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '../support/eventually.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { mainFile } from '../support/command-line.ts';
import { startServiceProcess } from '../support/service-process.ts';

describe('the limit on connections', () => {
  const sockets: Socket[] = [];
  after(() => {
    for (const socket of sockets) socket.destroy();
  });

  it('is below that on open files, and the log says once that it is reached and once that it no longer is', async () => {
    const { folder } = testRepository({ [pagePath('7')]: mainPage() });
    const limited = ['sh', '-c', `ulimit -n 256 && exec "${process.execPath}" "${mainFile}" serve`] as const;
    const { address, log, end, expectLog } = await startServiceProcess(folder, {}, limited);
    expectLog(/the limit of 192 connections is reached, new ones are refused: raise the limit on open files/);
    const port = Number(new URL(address).port);
    const open = async (): Promise<void> => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      await once(socket, 'connect');
    };
    for (let i = 0; i < 250; i++) await open();
    await eventually(() => log().includes('new ones are refused'));
    strictEqual(log().match(/new ones are refused/g)?.length, 1);
    for (const socket of sockets.splice(0)) socket.destroy();
    await eventually(async () => {
      await open();
      return log().includes('connections are accepted again');
    });
    ok((await fetch(`${address}/healthz`)).ok);
    for (const socket of sockets.splice(0)) socket.destroy();
    strictEqual(await end('SIGTERM'), 0);
  });
});
