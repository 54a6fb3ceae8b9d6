import { fail, match, strictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPackageFile } from '../support/package-files.ts';
import { eventually } from '../support/eventually.ts';
import { type FaultyProxy, startFaultyProxy } from '../support/faulty-proxy.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { runScript } from '../support/script.ts';
import { startTestService, startTestServiceProcess, type TestService } from '../support/service.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestToken } from '../support/token.ts';
import { needs } from '../support/tools.ts';

interface Program {
  readonly document: string;
  readonly language: 'js' | 'python';
  /** The number of the block among those of its language. */
  readonly number: number;
  /** The output for the catalogue at first, and after the restart. */
  readonly first: RegExp;
  readonly last: RegExp;
}

const posted = /^\{"bot":\{"count":156\},"commit":null\}$/m;
const postedAgain = new RegExp(`${posted.source}[^]*Bad Gateway[^]*${posted.source}`, 'm');

const programs: readonly Program[] = [
  { document: 'api', language: 'js', number: 0, first: /^2 bots\nnothing new$/m, last: /^3 bots$/m },
  { document: 'api', language: 'js', number: 1, first: posted, last: postedAgain },
  { document: 'api', language: 'python', number: 0, first: /^2 bots\nnothing new$/m, last: /^3 bots$/m },
  { document: 'api', language: 'python', number: 1, first: posted, last: postedAgain },
  { document: 'consumers', language: 'js', number: 0, first: /^1 counts$/m, last: /^2 counts$/m },
  { document: 'consumers', language: 'js', number: 1, first: /^2 bots$/m, last: /^3 bots$/m },
  // The pages need a browser: test/browser/consumers.test.ts.
];

/** The responses of proxies while a service restarts, and then of the service itself. */
const restartFaults = [
  { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>Bad Gateway</h1>' },
  { status: 404, headers: { 'Content-Type': 'text/html' }, body: '<h1>No such backend</h1>' },
  { status: 503, headers: { 'Retry-After': 'Thu, 26 Nov 2026 05:00:00 GMT' } },
  { status: 503, headers: { 'Content-Type': 'application/problem+json', 'Retry-After': '0' }, body: '{}' },
] as const;

describe('the programs of the documents', () => {
  const { folder: root } = testRepository({
    [pagePath('7')]: mainPage(),
    [pagePath('8')]: mainPage({ name: 'Lisa' }),
  });
  const repository = repositoryIn(root);
  const runs: Run[] = [];
  let service: TestService;
  let kill: () => Promise<unknown>;
  let token: string;

  const post = async (id: string, count: number): Promise<void> => {
    strictEqual((await service.post(id, await issueTestToken(root, id), { count })).status, 200);
  };

  before(async () => {
    const killed = await startTestServiceProcess({}, { root, env: { BOTSHELF_RATE_LIMIT: '0' } });
    service = killed;
    kill = async () => await killed.end('SIGKILL');
    await post('8', 5);
    token = await issueTestToken(root, '8');
    for (const _ of programs) runs.push({ proxy: await startFaultyProxy(service.address), printed: '' });
    for (const { proxy } of runs) proxy.faults.push(...restartFaults);
  });

  after(() => {
    for (const { child } of runs) child?.kill();
  });

  /** Defines a test of each program. */
  const defineAll = (title: string, test: (program: Program, run: Run) => Promise<void>): void => {
    for (const [i, program] of programs.entries()) {
      const { document, language, number } = program;
      const define = language === 'python' ? needs('python3', it) : it;
      define(`${title}: docs/${document}.md, ${language} ${number + 1}`, async () => {
        await test(program, runs[i] ?? fail());
      });
    }
  };

  defineAll('read once a proxy lets them', async (program, run) => {
    run.child = start(program, run, token);
    await eventually(() => match(run.printed, program.first));
  });

  describe('when the service is killed and starts again', () => {
    before(async () => {
      await kill();
      for (const { proxy } of runs) proxy.faults.push(...restartFaults);
      repository.git('rm', '-q', pagePath('7'));
      repository.commit({ [pagePath('9')]: mainPage(), [pagePath('10')]: mainPage() });
      service = await startTestService({}, { root, env: { BOTSHELF_RATE_LIMIT: '0' } });
      for (const { proxy } of runs) proxy.target = service.address;
      await post('9', 6);
    });

    defineAll('go on', async ({ last }, run) => {
      await eventually(() => match(run.printed, last));
      strictEqual(run.child?.exitCode ?? 0, 0, run.printed);
    });

    it('retry with curl: README.md, docs/api.md, docs/consumers.md @long', async () => {
      const texts = ['README.md', 'docs/api.md', 'docs/consumers.md'].map(readPackageFile).join('\n');
      const commands = [...texts.matchAll(/^(?:\$ )?(curl (?:.*\\\n)*.*)$/gm)].map(([, text = '']) => text);
      const retried = commands.filter((command) => command.includes(' --retry '));
      strictEqual(retried.length, 4);
      await Promise.all(
        retried.map(async (command) => {
          const proxy = await startFaultyProxy(service.address);
          proxy.faults.push({ status: 503, headers: { 'Retry-After': '1' } });
          proxy.faults.push(command.includes('--retry-all-errors') ? 'cut' : { status: 502 });
          const script = atProxy(command, proxy);
          const { code, output } = await runScript(script, tempFolder(), {
            PATH: process.env['PATH'] ?? '',
            token,
          });
          strictEqual(code, 0, `${command}\n${output}`);
          strictEqual(proxy.requests, 3, command);
        }),
      );
    });
  });
});

/** A program that runs, behind a proxy of its own. */
interface Run {
  readonly proxy: FaultyProxy;
  child?: ChildProcess;
  printed: string;
}

function start(program: Program, run: Run, token: string): ChildProcess {
  const isPython = program.language === 'python';
  const file = join(tempFolder(), isPython ? 'program.py' : 'program.mjs');
  writeFileSync(file, atProxy(codeOf(program), run.proxy));
  const child = spawn(isPython ? 'python3' : process.execPath, [file], { env: { ...process.env, token } });
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk) => (run.printed += String(chunk)));
  return child;
}

/** Returns the code with the address of the proxy, and with a bot that exists. */
function atProxy(code: string, { address }: FaultyProxy): string {
  return code.replaceAll(/(http:\/\/)?localhost:8080/g, address).replaceAll('190519304972663312', '8');
}

function codeOf({ document, language, number }: Program): string {
  const codes = [
    ...readPackageFile(`docs/${document}.md`).matchAll(
      new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm'),
    ),
  ];
  return (codes[number]?.[1] ?? '').replace(/seconds = \d+/, 'seconds = 0.1');
}
