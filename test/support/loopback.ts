import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { cleanUp } from './cleanup.ts';

/** Has a server listen on a free port of a loopback address. It ends when the tests of the file are over. */
export async function listenOnLoopback(
  server: Server | HttpsServer,
  host = '127.0.0.1',
): Promise<{ port: number; close: () => Promise<void> }> {
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  cleanUp(close);
  return { port, close };
}

/** A port of 127.0.0.1 that nobody has, for a service that has to know its address before it starts. */
export async function freePort(): Promise<number> {
  const { port, close } = await listenOnLoopback(createServer());
  await close();
  return port;
}
