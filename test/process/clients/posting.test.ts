import { deepStrictEqual, fail, match, ok, strictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { packageFolder } from '../../support/package-files.ts';
import { eventually } from '../../support/eventually.ts';
import { type FaultyProxy, startFaultyProxy } from '../../support/faulty-proxy.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, startTestServiceProcess, type TestService } from '../../support/service.ts';
import { countsOf } from '../../support/posted-counts.ts';
import { issueTestTokens } from '../../support/token.ts';
import { needs } from '../../support/tools.ts';

const node = [process.execPath, fileURLToPath(new URL('./driver.js', import.meta.url))];
const python = ['python3', `${packageFolder}/test/process/clients/driver.py`];

const withPython = needs('python3', describe);

/** Bot → the program that posts its count. */
const clients = [
  { name: 'TypeScript', id: '11', define: describe, command: node },
  { name: 'Python, in a thread', id: '22', define: withPython, command: [...python, 'thread'] },
  { name: 'Python, in asyncio', id: '33', define: withPython, command: [...python, 'asyncio'] },
];

const problem = { 'Content-Type': 'application/problem+json' };

interface Driver {
  readonly process: ChildProcess;
  /** The output of the driver, in lines. */
  said(): string[];
  say(line: string): void;
  /** Ends the driver. Resolves with the exit code and the standard error. */
  stop(): Promise<readonly [number | null, string]>;
}

describe('a client that posts counts', () => {
  let root: string;
  let tokens: ReadonlyMap<string, string>;
  let service: TestService;
  let kill: () => Promise<unknown>;

  before(async () => {
    const ids = clients.map(({ id }) => id);
    root = testRepository(Object.fromEntries(ids.map((id) => [pagePath(id), mainPage()]))).folder;
    tokens = await issueTestTokens(root, ids);
    const killed = await startTestServiceProcess({}, { root });
    service = killed;
    kill = async () => await killed.end('SIGKILL');
  });

  const start = ([program = '', ...args]: string[], address: string, id: string, token: string): Driver => {
    const env = { ...process.env, BOTSHELF_TOKEN: token };
    const child = spawn(program, [...args, address, id], { env });
    running.push(child);
    let [said, errors] = ['', ''];
    child.stdout.on('data', (chunk) => (said += String(chunk)));
    child.stderr.on('data', (chunk) => (errors += String(chunk)));
    const ended = once(child, 'close');
    return {
      process: child,
      said: () => said.split('\n').slice(0, -1),
      say: (line) => void child.stdin.write(`${line}\n`),
      stop: async () => {
        child.stdin.end();
        const [code] = (await ended) as [number | null];
        ok(!`${said}${errors}`.includes(token), 'the token is nowhere');
        return [code, errors];
      },
    };
  };
  const running: ChildProcess[] = [];
  /** The client of each bot, behind a proxy of its own. */
  const started: { readonly id: string; readonly driver: Driver; readonly proxy: FaultyProxy }[] = [];
  const countIs = async (id: string, count: number): Promise<void> =>
    await eventually(async () => strictEqual((await countsOf(service.address)).get(id), count), 30);
  after(() => {
    for (const child of running) child.kill('SIGKILL');
  });

  for (const { name, id, define, command } of clients)
    define(name, () => {
      let proxy: FaultyProxy;
      let driver: Driver;
      const token = (): string => tokens.get(id) ?? '';
      const waits = (): number => driver.said().filter((line) => line === 'did wait').length;
      const errors = (): string[] => driver.said().filter((line) => line.startsWith('error '));
      const haveCommands = async (): Promise<void> => {
        const { json } = await service.request(`/api/v2/bots/${id}/commands`);
        deepStrictEqual(json, [{ name: 'play', name_localizations: { de: 'spiel' } }]);
      };

      before(async () => {
        proxy = await startFaultyProxy(service.address);
        driver = start(command, proxy.address, id, token());
        started.push({ id, driver, proxy });
      });

      it('posts count and commands when the count is known, and only when they have changed', async () => {
        driver.say('wait');
        await eventually(() => driver.said().includes('did wait'));
        strictEqual(proxy.requests, 0);
        driver.say('1');
        await countIs(id, 1);
        await eventually(() => driver.said().includes('posted 1'));
        await eventually(haveCommands);
        // On a slow machine a commit takes longer than the client waits, and the commands are put once more.
        await eventually(async () => {
          const [requests, before] = [proxy.requests, waits()];
          driver.say('wait');
          await eventually(() => waits() > before);
          strictEqual(proxy.requests, requests);
        });
      });

      it('posts the last count after every fault, one request at a time', async () => {
        const date = new Date(Date.now() + 1500).toUTCString();
        proxy.faults.push(
          { status: 503, headers: { 'Retry-After': '1' } },
          { status: 429, headers: { 'Retry-After': date } },
          'cut',
          'hang',
          'half',
          { status: 302, headers: { Location: `${service.address}/api/v2/bots/${id}` } },
          { status: 404, headers: { 'Content-Type': 'text/html' }, body: `<p>${token()}</p>` },
          { status: 500, headers: problem, body: `{"detail": "${token()}"}` },
          { status: 200, body: 'It works!' },
        );
        const faults = proxy.faults.length;
        proxy.mostInFlight = 0;
        driver.say('2');
        await countIs(id, 2);
        await eventually(() => driver.said().includes('posted 2'));
        strictEqual(proxy.faults.length, 0);
        strictEqual(proxy.mostInFlight, 1);
        ok(errors().length >= faults, errors().join('\n'));
        match(errors().join('\n'), /503[^]*429[^]*404[^]*500[^]*is this the address of the list\?/);
      });

      it('posts counts while the commands have to wait, and puts those no earlier', async () => {
        proxy.faults.push({ status: 429, headers: { 'Retry-After': '3600' } });
        driver.say('rename');
        await eventually(() => proxy.faults.length === 0);
        driver.say('7');
        await countIs(id, 7);
        const before = waits();
        driver.say('wait');
        await eventually(() => waits() > before);
        await haveCommands();
      });

      it('goes on when the count cannot be told', async () => {
        driver.say('throw');
        await eventually(() => driver.said().includes('error no count'));
        driver.say('3');
        await countIs(id, 3);
      });

      it('waits an hour where the bot, the owner or the token is wrong, says so, and goes on', async () => {
        const lostProxy = await startFaultyProxy(service.address);
        const other = clients.find((one) => one.id !== id)?.id ?? '';
        const wrong = [
          [/401 /, lostProxy.address, id, `bsh_${'x'.repeat(49)}`],
          [/403 /, lostProxy.address, other, token()],
          [/404 /, lostProxy.address, '44', token()],
          [/token is empty or incomplete/, lostProxy.address, id, 'bsh_x\nX-More: 1'],
          [/the address, or a header, is invalid: /, 'bots.example.org', id, token()],
        ] as const;
        const run = async ([pattern, address, of, given]: (typeof wrong)[number]): Promise<void> => {
          const lost = start(command, address, of, given);
          lost.say('4');
          const waited = (): readonly string[] => lost.said().filter((line) => line.startsWith('waits '));
          await eventually(() => waited().length > 1);
          for (const line of waited()) match(line, /^waits (?:5[4-9]|6[0-6]) minutes$/);
          // On a slow machine another error comes first: no response in time.
          const error = lost.said().find((line) => line.startsWith('error ') && pattern.test(line));
          match(error ?? lost.said().join('\n'), /^error .*; the next attempt is in an hour$/);
          ok(!lost.said().includes('posted 4'));
          deepStrictEqual(await lost.stop(), [0, '']);
        };
        await Promise.all(wrong.map(run));
      });

      it('posts after a mistake of the operator that lasted for a moment', async () => {
        for (const status of [401, 404, 413])
          proxy.faults.push({ status, headers: problem, body: '{"type": "x", "detail": "for a moment"}' });
        // JSON of a server in between.
        proxy.faults.push({ status: 200, body: '{"status": "ok"}' });
        driver.say('8');
        await countIs(id, 8);
        strictEqual(proxy.faults.length, 0);
        ok(driver.said().filter((line) => line.startsWith('waits ')).length >= 3);
        strictEqual(proxy.headers['user-agent'], 'driver/1.0');
      });
    });

  describe('of a service that is killed and started again', () => {
    before(async () => {
      await kill();
      for (const { driver } of started) driver.say('5');
      await eventually(() => started.every(({ driver }) => driver.said().at(-1)?.startsWith('error ')));
      service = await startTestService({}, { root });
      service.allowLog(/./);
      for (const { proxy } of started) proxy.target = service.address;
    });

    for (const { name, id } of clients)
      (name === 'TypeScript' ? it : needs('python3', it))(
        `posts the last count, and then stops: ${name}`,
        async () => {
          const { driver, proxy } = started.find((one) => one.id === id) ?? fail(name);
          await countIs(id, 5);
          proxy.faults.push('hang');
          driver.say('6');
          await eventually(() => proxy.faults.length === 0);
          deepStrictEqual(await driver.stop(), [0, '']);
          strictEqual(driver.said().at(-1), 'stopped');
          // The four of the test before were drivers of their own.
          ok(proxy.mostInFlight <= 4);
        },
      );
  });
});
