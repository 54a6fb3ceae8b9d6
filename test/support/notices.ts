import { createServer } from 'node:http';
import type { Notice } from '../../src/proposals/notifications.ts';
import { listenOnLoopback } from './loopback.ts';

/** Starts a receiver of notices. */
export async function receiveNotices(): Promise<{ readonly address: string; readonly notices: Notice[] }> {
  const notices: Notice[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      notices.push((JSON.parse(body) as { readonly botshelf: Notice }).botshelf);
      response.writeHead(204).end();
    });
  });
  return { address: `http://127.0.0.1:${(await listenOnLoopback(receiver)).port}`, notices };
}
