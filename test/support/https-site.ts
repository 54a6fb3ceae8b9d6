import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { ImageConnector } from '../../src/images/connector.ts';
import { isPublicAddress } from '../../src/lib/network.ts';
import { listenOnLoopback } from './loopback.ts';
import { cleanUp } from './cleanup.ts';
import { readPackageFile } from './package-files.ts';

/** Responds to a request. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** An https server on a loopback address, and what reached it. */
export interface Site {
  readonly port: number;
  /** Requested paths, in order. */
  readonly asked: string[];
  readonly requests: IncomingMessage[];
  /** Connections made to it. */
  connections: number;
  /** Path → answer; may be changed at any time. */
  readonly answers: Record<string, Answer>;
}

/** A key and its self-signed certificate. */
const pem = readPackageFile('test/fixtures/images.test.pem');

/** Starts a site at `host`; 127.0.0.1 stands for the public internet, any other for a private network. */
export async function startSite(answers: Record<string, Answer> = {}, host = '127.0.0.1'): Promise<Site> {
  const server = createServer({ key: pem, cert: pem }, (request, response) => {
    site.asked.push(request.url ?? '');
    site.requests.push(request);
    const answer = site.answers[request.url ?? ''];
    if (answer) answer(response, request);
    else response.writeHead(404).end();
  });
  const { port } = await listenOnLoopback(server, host);
  const site: Site = { port, asked: [], requests: [], connections: 0, answers };
  server.on('connection', () => {
    site.connections += 1;
  });
  return site;
}

/** A connector that can reach the sites at 127.0.0.1, and nothing else that is not public or in `allowed`. */
export async function testConnector(
  options: { names?: Record<string, Lookup>; allowed?: readonly string[]; timeLimit?: number } = {},
): Promise<ImageConnector> {
  const nameServer = await startNameServer({ ...options.names, 'images.test': () => ['127.0.0.1'] });
  const connector = new ImageConnector({
    allow: (address) =>
      ['127.0.0.1', ...(options.allowed ?? [])].includes(address) || isPublicAddress(address),
    nameServers: [nameServer],
    ca: pem,
    site: 'https://bots.example.org',
    timeLimit: options.timeLimit ?? 10_000,
  });
  cleanUp(async () => await connector.close());
  return connector;
}

/** Sends these bytes. */
export function bytes(
  body: Buffer | string,
  type = 'image/png',
  headers: Record<string, string> = {},
): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': type, ...headers }).end(body);
  };
}

/** Sends somewhere else. */
export function redirect(location: string): Answer {
  return (response) => {
    response.writeHead(302, { location }).end();
  };
}

/** The answer of a name server to the nth question about a name's IPv4 addresses, counted from one. */
export type Lookup = (question: number) => string[];

/** Starts a name server that knows `names`, a name below one of them is the same; returns its address and port. */
async function startNameServer(names: Readonly<Record<string, Lookup>>): Promise<string> {
  const socket = createSocket('udp4');
  const asked = new Map<string, number>();
  socket.on('message', (question, peer) => {
    const { name, type, end } = readQuestion(question);
    const known = Object.keys(names).find((key) => name === key || name.endsWith(`.${key}`));
    const count = (asked.get(name) ?? 0) + (type === ipv4 ? 1 : 0);
    asked.set(name, count);
    const addresses = known !== undefined && type === ipv4 ? (names[known]?.(count) ?? []) : [];
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    const records = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([header, question.subarray(12, end), ...records]), peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  cleanUp(async () => {
    socket.close();
    await once(socket, 'close');
  });
  return `127.0.0.1:${socket.address().port}`;
}

const ipv4 = 1;

function readQuestion(packet: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = packet.readUInt8(offset); length > 0; length = packet.readUInt8(offset)) {
    labels.push(packet.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(offset + 1), end: offset + 5 };
}
