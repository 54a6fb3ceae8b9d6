import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { ImageConnector } from '../../src/images/connector.ts';
import { isPublicAddress } from '../../src/lib/network.ts';
import { listenOnLoopback } from './loopback.ts';
import { cleanUp } from './cleanup.ts';

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

const certificate = makeCertificate(['images.test', '*.images.test'], ['127.0.0.1', '127.0.0.2']);

/** Starts a site at `host`; 127.0.0.1 stands for the public internet, any other for a private network. */
export async function startSite(answers: Record<string, Answer> = {}, host = '127.0.0.1'): Promise<Site> {
  const server = createServer(certificate, (request, response) => {
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
    ca: certificate.cert,
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

/** A key and its self-signed certificate, both PEM. */
interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Makes a certificate for these host names and IPv4 addresses, good for a day. */
function makeCertificate(names: readonly string[], addresses: readonly string[]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(der(0x06, '2a8648ce3d040302'));
  const name = sequence(der(0x31, sequence(der(0x06, '550403'), der(0x0c, Buffer.from('Botshelf tests')))));
  const alternatives = sequence(
    ...names.map((text) => der(0x82, Buffer.from(text))),
    ...addresses.map((text) => der(0x87, Buffer.from(text.split('.').map(Number)))),
  );
  const day = 86_400_000;
  const toBeSigned = sequence(
    der(0xa0, der(0x02, '02')),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(utcTime(Date.now() - day), utcTime(Date.now() + day)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(der(0x06, '551d11'), der(0x04, alternatives)))),
  );
  const signature = Buffer.concat([Buffer.alloc(1), sign('sha256', toBeSigned, privateKey)]);
  const cert = sequence(toBeSigned, algorithm, der(0x03, signature)).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
  };
}

/** An ASN.1 value of that tag. */
function der(tag: number, content: Buffer | string): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'hex') : content;
  const length =
    bytes.length < 0x80
      ? Buffer.from([bytes.length])
      : Buffer.from([0x82, Math.floor(bytes.length / 256), bytes.length % 256]);
  return Buffer.concat([Buffer.from([tag]), length, bytes]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function utcTime(time: number): Buffer {
  const text = new Date(time).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${text}Z`));
}
