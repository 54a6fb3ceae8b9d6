import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { cleanUp } from './cleanup.ts';

/** The state of connections: undisturbed, cut and refused, each piece late, or ended after some bytes. */
export type Line = 'good' | 'cut' | 'slow' | { readonly bytes: number };

/** A line between a client and a server that a test can make bad. It ends when the tests of the file are over. */
export interface TcpProxy {
  readonly port: number;
  /** The port of the server on this machine; 0 for no server: connections are refused. */
  target: number;
  line: Line;
  /** Called with the bytes of the server, before they are passed on. */
  onAnswer: ((piece: Buffer) => void) | undefined;
}

/** Starts a line to a port of this machine. */
export async function startTcpProxy(target = 0): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let line: Line = 'good';
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (line === 'cut' || proxy.target === 0) return void client.destroy();
    const onward = connect({ port: proxy.target, host: '127.0.0.1', allowHalfOpen: true });
    let left = typeof line === 'object' ? line.bytes : Number.POSITIVE_INFINITY;
    for (const [from, to] of [
      [client, onward],
      [onward, client],
    ] as const) {
      sockets.add(from);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('error', () => to.destroy());
      from.on('end', () => to.end());
      from.on('data', (piece: Buffer) => {
        if (from === onward) proxy.onAnswer?.(piece);
        left -= piece.length;
        if (left < 0) return void from.destroy();
        from.pause();
        const pass = (): void => void to.write(piece, () => from.resume());
        if (line === 'slow') setTimeout(pass, 150);
        else pass();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    target,
    onAnswer: undefined,
    get line() {
      return line;
    },
    set line(next) {
      line = next;
      if (line === 'cut') for (const socket of sockets) socket.destroy();
    },
  };
  cleanUp(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return proxy;
}
