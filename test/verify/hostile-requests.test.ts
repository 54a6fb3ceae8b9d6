import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { hostileCommands, longestPage, slowPages } from '../support/hostile-pages.ts';
import {
  botCount,
  fillIn,
  hostedBot,
  type HostileRequest,
  listAttacks,
  maintainer,
  rareWord,
  routes,
  wordsPerBot,
} from '../support/hostile-routes.ts';
import { type Case, readCases } from '../support/fixture-lines.ts';
import { startProvider } from '../support/login-provider.ts';
import { loginEnv, sealSession } from '../support/login-site.ts';
import { type Cost, costOf, cpuOf } from '../support/process-cost.ts';
import { openProposals } from '../support/proposals.ts';
import { openSocket, sendRaw, statusAfter } from '../support/raw-request.ts';
import { testRepository } from '../support/repository.ts';
import { accountId, botId, collection, mainPage, pagePath, translation } from '../support/sample.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestToken } from '../support/token.ts';

/** Whether there are many bots, and each route is measured. */
const isLong = process.env['BOTS'] !== undefined;
/** How many requests a round makes. */
const many = isLong ? 100 : 10;
/** A few requests show what takes quadratic time or worse; what one costs is known from many, on a machine that is at rest. */
const tolerance = isLong ? 1 : 10;

const formType = { 'Content-Type': 'application/x-www-form-urlencoded' };
const page = { Accept: 'text/html' };

const bot = '/api/v2/bots/7';
const get = (path: string, headers: HostileRequest['headers'] = {}): HostileRequest => ({ path, headers });

/** A request that the response cache leaves to the application. */
const plainRequest = (): HostileRequest => get(bot, { 'If-Modified-Since': 'x' });

function toRequest({ input, expected }: Case, i: number, token: string): HostileRequest {
  const [method = '', path = ''] = input.split(/ (.*)/);
  const lines = expected.map((line) => line.replace('⟨token⟩', token).split(/: (.*)/));
  const { Body: body, ...headers } = Object.fromEntries(
    lines.map(([name = '', value = '']) => [name, fillIn(value, i)]),
  );
  const start = { method, path: fillIn(path, i) };
  return body === undefined
    ? { ...start, headers }
    : { ...start, body, headers: { ...formType, ...headers } };
}

/** Requests that are as bad as a stranger can make them, by what is bad about them. */
const requests: Readonly<Record<string, (i: number, token: string) => HostileRequest>> = {
  'a thousand headers': () =>
    get('/healthz', Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`x${n}`, 'x']))),
  'one header a thousand times': () => get('/healthz', { 'x-a': Array.from({ length: 1000 }, () => 'x') }),
  'a search of 24 misspelt words': (i) =>
    get(`/api/v2/bots?q=${Array.from({ length: 24 }, (_, n) => rareWord(i * 24 + n).slice(1)).join('+')}`),
  'a comparison of the same bots in another order': (i) =>
    get(`/compare?bots=${[0, 1, 2, 3].map((n) => ((i * 7919 + n * 31) % 2000) + 1).join(',')}`, page),
  ...Object.fromEntries(
    readCases('hostile-requests').map((one) => [
      one.title,
      (i: number, token: string) => toRequest(one, i, token),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(hostileCommands(127 * 1024)).map(([name, body]) => [
      `commands that are a list of ${name}`,
      (_i: number, token: string) => {
        const headers = { 'Content-Type': 'application/json', Authorization: token };
        return { path: `${bot}/commands`, method: 'PUT', headers, body };
      },
    ]),
  ),
};

/** Texts of pages that strangers propose. */
const proposedTexts: Readonly<Record<string, string>> = {
  ...slowPages,
  'words that all differ': 'b '.repeat(9900),
  'lines that all differ': 'b\n'.repeat(9900),
  'one long word': 'b'.repeat(19_900),
};

/** Proposes, for each of these texts, pages of 60 KB in three languages, each by an account of its own. */
async function propose(folder: string): Promise<void> {
  const proposals = await openProposals(folder);
  for (const [i, text] of Object.values(proposedTexts).entries()) {
    const page = text.slice(0, longestPage);
    const proposer = { id: accountId(String(801 + i)), name: 'x'.repeat(200) };
    const pages = new Map([
      [pagePath('7'), mainPage({ name: 'Bot 0' }, page)],
      [pagePath('7', 'fr'), translation('Bot', 'French.', page)],
      [pagePath('7', 'de'), translation('Bot', 'German.', page)],
    ]);
    await proposals.send({ subject: botId('7'), proposer, pages, note: 'x '.repeat(500) });
  }
}

/** The pages of strangers' proposals that a maintainer opens. */
const reviews: readonly (readonly [name: string, path: string])[] = [
  ['the list of proposals', '/review'],
  ...Object.keys(proposedTexts).map((name, i): [string, string] => [
    `the review of a proposal with ${name}`,
    `/review/7/${801 + i}`,
  ]),
];

/** Connections that are as bad, and how many requests each makes. */
const connections: Readonly<Record<string, (service: ServiceProcess) => Promise<number>>> = {
  'in 64 KB of requests that do not wait for responses': async (service) => {
    const text = 'GET /api/v2/bots HTTP/1.1\r\nHost: x\r\n\r\n';
    return await writeAll(service, 5, text, Math.floor((64 * 1024) / text.length));
  },
  'of clients that do not read': async (service) => {
    const text = 'GET /api/v2/bots?sort=-id HTTP/1.1\r\nHost: x\r\nIf-Modified-Since: x\r\n\r\n';
    return await writeAll(service, 50, text, 20);
  },
  'that comes byte by byte': async (service) => {
    const sockets = await openAll(service, 50);
    for (const byte of 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n') {
      for (const socket of sockets) socket.write(byte);
      await rest(1);
    }
    await Promise.all(sockets.map(async (socket) => await once(socket, 'data')));
    for (const socket of sockets) socket.destroy();
    return sockets.length;
  },
};

/** Sends a request so many times on each of some connections, and does not read. */
async function writeAll(
  service: ServiceProcess,
  count: number,
  text: string,
  times: number,
): Promise<number> {
  const sockets = await openAll(service, count);
  for (const socket of sockets) socket.pause().write(text.repeat(times));
  await rest(1000);
  for (const socket of sockets) socket.destroy();
  return times * count;
}

async function openAll({ address }: ServiceProcess, count: number): Promise<Socket[]> {
  return await Promise.all(Array.from({ length: count }, async () => await openSocket(address)));
}

/**
 * The cost of a stranger's request, as a ratio to that of a plain one on the same machine at the same time: CPU of the
 * service, for each 16 KiB that is sent, and memory of its process. A round that seems to cost too much is repeated,
 * and the best one counts, so that other work on the machine does not matter.
 */
describe(`a hostile request costs less than ${20 * tolerance} plain ones:`, function () {
  this.timeout(180_000);
  let service: ServiceProcess;
  let token: string;
  let cookie: string;
  /** The last cost of plain requests, by how they are sent. */
  const plains = new Map<(round: number) => Promise<number>, Cost>();
  let sent = 0;
  /** How many plain requests a request costs for each 16 KiB, by its name. */
  const ratios = new Map<string, number>();
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });

  before(async () => {
    const files = Array.from({ length: botCount }, (_, i) => {
      const words = Array.from({ length: wordsPerBot }, (_, n) => rareWord(i * wordsPerBot + n));
      const keys = { name: `Bot ${i}`, description: words.join(' '), authors: [maintainer] };
      return [pagePath(hostedBot(i)), mainPage(keys)] as const;
    });
    const { folder, git } = testRepository({
      ...Object.fromEntries(files),
      'botshelf.json': JSON.stringify({ maintainers: [maintainer] }),
      [pagePath('7')]: mainPage({ name: 'Bot 0', authors: [maintainer] }, 'a '.repeat(9900)),
      'collections/all.en.md': collection({ bots: Array.from({ length: 30 }, (_, i) => hostedBot(i)) }),
    });
    token = await issueTestToken(folder, '7');
    await propose(folder);
    const origin = join(tempFolder(), 'origin');
    git('clone', '-q', '--bare', '.', origin);
    git('remote', 'add', 'origin', origin);
    const baseUrl = 'http://localhost:1';
    const provider = await startProvider(baseUrl);
    cookie = `__Host-botshelf=${await sealSession(provider, maintainer, 'Marge')}`;
    const env = {
      BOTSHELF_BAD_TOKEN_LIMIT: '0',
      BOTSHELF_TRUST_PROXY: 'on',
      BOTSHELF_BASE_URL: baseUrl,
      BOTSHELF_REMOTE: 'origin',
      BOTSHELF_WEBHOOK_SECRET: 'a-secret-of-the-tests',
      BOTSHELF_SYNC_SECONDS: '86400',
      ...loginEnv(provider.settings),
    };
    service = await startServiceProcess(folder, env);
    // Work that waits behind too much is refused, and on a busy machine a push of tokens takes long.
    service.allowLog(/requests are refused|the remote (?:cannot be reached|does not have it yet)/);
    // The index of the search takes memory, which no request is to blame for.
    await send({ path: '/api/v2/bots?q=bot&limit=1' });
    await measure(plainRound, 3);
  });

  after(() => {
    agent.destroy();
    if (isLong)
      for (const [name, ratio] of [...ratios].toSorted(([, a], [, b]) => b - a).slice(0, 20))
        console.log(`    ${ratio.toFixed(1)} plain requests: ${name}`);
  });

  for (const [name, attack] of Object.entries(connections))
    it(`one ${name}`, async () => await compare(name, async () => await attack(service)));

  for (const [name, make] of Object.entries(requests)) {
    it(`one with ${name}`, async () => {
      const bytes = make(0, token).body?.length ?? 0;
      await compare(name, async (round) => await sendAll((i) => make(i, token), round), bytes);
    });
  }

  it('with a page that takes long to preview waits, as do all others, so that most of the time is free', async () => {
    const texts = Object.values(slowPages);
    const preview = (i: number): HostileRequest => {
      const headers = { ...formType, 'X-Forwarded-For': `203.0.${(i >> 8) & 255}.${i & 255}` };
      return { path: '/add', method: 'POST', headers, body: `name=x&page=${texts[i % texts.length]}` };
    };
    const started = performance.now();
    const { cpu } = await costOf(service.process.pid ?? 0, async () => {
      for (let round = 0; performance.now() < started + 5000; round++) await sendAll(preview, round);
    });
    const ms = performance.now() - started;
    // A tenth is that of the thread: the garbage collector, the compiler and the forms themselves take as much.
    ok(cpu < 0.75 * ms, `${cpu} ms of CPU in ${ms} ms`);
  });

  it('for lists of its own leaves others theirs, also while too many are being compressed', async () => {
    const list = (address: string, skip: number): HostileRequest => ({
      path: `/api/v2/bots?fields=id,contents&sort=-id&limit=${Math.min(1000, botCount) - (skip % 200)}`,
      headers: { 'Accept-Encoding': 'br', 'X-Forwarded-For': address },
    });
    const over = new AbortController();
    let next = 0;
    const crowd = new Agent({ keepAlive: true });
    const attack = async (): Promise<void> => {
      while (!over.signal.aborted) await send(list('2001:db8:1::1', next++), crowd);
    };
    const attackers = Array.from({ length: 80 }, attack);
    const statuses = new Set<number>();
    for (let i = 0; i < 5; i++) statuses.add((await send(list(`192.0.2.${i}`, next++))).status);
    over.abort();
    await Promise.all(attackers);
    crowd.destroy();
    deepStrictEqual([...statuses], [200]);
  });

  it('for 1,000 streams of changes from one /48 leaves others theirs', async () => {
    const request = async (socket: Socket, address: string): Promise<number> =>
      await statusAfter(
        socket,
        `GET /api/v2/changes HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nAccept: text/event-stream\r\n\r\n`,
      );
    const [other, ...sockets] = await openAll(service, 1001);
    const statuses = sockets.map(
      async (socket, i) => await request(socket, `2001:db8:1:${i.toString(16)}::1`),
    );
    strictEqual((await Promise.all(statuses)).filter((status) => status === 200).length, 250);
    strictEqual(other && (await request(other, '192.0.2.1')), 200);
    other?.destroy();
    for (const socket of sockets) socket.destroy();
  });

  for (const [name, path] of reviews) {
    it(`${name}, as a maintainer opens it`, async () => {
      const opened = { path, headers: { ...page, Cookie: cookie } };
      strictEqual((await fetch(service.address + path, { headers: opened.headers })).status, 200);
      await compare(name, async (round) => await sendAll(() => opened, round), 60_000);
    });
  }

  it('is answered without an error of the service on every route', async () => {
    const attacks = Object.keys(routes).flatMap((route) =>
      Array.from(listAttacks(route, cookie), ([name, make]) => [`${route}, ${name}`, make] as const),
    );
    const failed = attacks.map(async ([name, make]) => {
      const { status } = await send(make(sent++));
      return status === 500 ? [name] : [];
    });
    deepStrictEqual((await Promise.all(failed)).flat(), []);
  });

  for (const route of isLong ? Object.keys(routes) : [])
    it(`one to ${route}`, async () => {
      for (const [name, make] of listAttacks(route, cookie))
        await compare(`${route}, ${name}`, async () => await sendSome(make), 0, plainByFive);
    });

  async function plainRound(round: number): Promise<number> {
    return await sendAll(plainRequest, round, 5 * many);
  }

  async function plainByFive(): Promise<number> {
    return await sendSome(plainRequest);
  }

  /** Compares a round with plain requests; where it seems to cost too much, with plain ones of the same moment. */
  async function compare(
    name: string,
    round: (round: number) => Promise<number>,
    bytes = 0,
    toPlain = plainRound,
  ): Promise<void> {
    const times = timesOf(name) * Math.max(1, Math.ceil(bytes / 16_384));
    let cost = await measure(round, 1);
    let plain = plains.get(toPlain) ?? (await measure(toPlain, 3));
    // The cost of a first round may be the compiler's.
    if (cost.cpu >= times * plain.cpu) cost = await measure(round, 2);
    for (let again = 0; again < 2 && cost.cpu >= times * plain.cpu; again++) {
      plain = await measure(toPlain, 3);
      cost = { ...(await measure(round, 3)), memory: cost.memory };
    }
    plains.set(toPlain, plain);
    const { cpu, memory } = cost;
    ratios.set(name, (timesOf(name) * cpu) / (times * plain.cpu));
    ok(
      cpu < times * plain.cpu,
      `${name}: ${cpu.toFixed(2)} ms, ${plain.cpu.toFixed(2)} ms for a plain request`,
    );
    const most = 20 * Math.max(plain.memory, leastMemory);
    ok(memory < most, `${name}: memory grew by ${memory} bytes, by ${plain.memory} with plain requests`);
  }

  /** The CPU of a request in the round that took least of it, and by how much memory grew most. @param round resolves with how many requests it made */
  async function measure(round: (round: number) => Promise<number>, rounds: number): Promise<Cost> {
    const costs: Cost[] = [];
    for (let i = 0; i < rounds; i++) {
      let count = 0;
      const { cpu, memory } = await costOf(service.process.pid ?? 0, async () => (count = await round(i)));
      costs.push({ cpu: cpu / count, memory });
    }
    // Memory that one round took is there for the next.
    return {
      cpu: Math.min(...costs.map(({ cpu }) => cpu)),
      memory: Math.max(...costs.map(({ memory }) => memory)),
    };
  }

  async function sendAll(make: (i: number) => HostileRequest, round: number, count = many): Promise<number> {
    await Promise.all(Array.from({ length: count }, async (_, i) => await send(make(round * count + i))));
    return count;
  }

  /** Sends requests of a kind until what they have cost can be measured; returns how often 16 KiB were sent or received. */
  async function sendSome(make: (i: number) => HostileRequest): Promise<number> {
    const pid = service.process.pid ?? 0;
    const end = cpuOf(pid) + measurableMs;
    let units = 0;
    for (let i = 0; i < 100 && cpuOf(pid) < end; i++) {
      const responses = await Promise.all(Array.from({ length: 5 }, async () => await send(make(sent++))));
      for (const { bytes } of responses) units += Math.max(1, Math.ceil(bytes / 16_384));
    }
    return units;
  }

  /** Resolves with the status, and with the bytes of the body that was sent or of the one that was received, whichever has more. */
  async function send(
    { path, method = 'GET', headers = {}, body }: HostileRequest,
    through = agent,
  ): Promise<{ status: number; bytes: number }> {
    const received = await sendRaw(service.address, path, { method, headers, agent: through }, body);
    return { status: received.status, bytes: Math.max(body?.length ?? 0, received.body.length) };
  }
});

/** The requests that may cost more than 20 plain ones, and how many; all others may cost 20. */
const heavier: readonly (readonly [name: RegExp, times: number])[] = [
  // Six words, each compared with those of 20,000 bots that begin or end as it does.
  [/^a search of 24 misspelt words/, isLong ? 100 : 20],
  // A commit of the state for each.
  [/^POST \/bots\/:id\/token/, 300],
  // A search, 500 bots of one author, or all files, of which eight can be read at a time.
  [
    /^GET (?:\/|\/api\/v2\/bots|\/categories\/:category|\/authors\/:id\/attention\.atom|\/api\/v2\/export\S*),/,
    150,
  ],
  // A page or a form that is rendered for one reader.
  [/^(?:GET|POST) \/(?!api\/)|^an Accept-Language|^thousands of empty parameters|^a Content-Type/, 100],
];

function timesOf(name: string): number {
  return tolerance * (heavier.find(([pattern]) => pattern.test(name))?.[1] ?? 20);
}

/** CPU of a round, so that what else the service does counts little. */
const measurableMs = 100;

/** Bytes; the garbage of plain requests is about that much, and differs from round to round. */
const leastMemory = 5 * 1024 * 1024;
