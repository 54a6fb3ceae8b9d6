import { match, strictEqual } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { eventually } from './eventually.ts';
import { mainPage, pagePath, writeFiles } from './sample.ts';
import { mainFile } from './command-line.ts';
import { startServiceProcess } from './service-process.ts';
import { startTestService, type TestService } from './service.ts';
import { testRepository } from './repository.ts';

// Tests that service-process.test.ts runs, to see which of them fail. Each title says whether it has to.
const sound = { [pagePath('2')]: mainPage() };
const faulty = { [pagePath('1')]: mainPage({ category: 'nonsense' }) };
const fault = /1\.en\.md.*a file breaks a rule/;

const pids: (number | undefined)[] = [];

async function start(files: Readonly<Record<string, string>>): Promise<TestService> {
  const service = await startTestService(files);
  pids.push(service.process.pid);
  process.stderr.write(`started ${service.process.pid}\n`);
  return service;
}

describe('a service that a test started', () => {
  it('fails for a warning', async () => {
    await start(faulty);
  });

  it('fails for a line that is none of the log', async () => {
    const command = [
      'sh',
      '-c',
      'echo Segfault >&2 && exec "$0" "$1" serve',
      process.execPath,
      mainFile,
    ] as const;
    await startServiceProcess(testRepository(sound).folder, {}, command);
  });

  it('fails for an expected warning that does not come', async () => {
    const service = await start(sound);
    service.expectLog(fault);
  });

  it('passes with a warning that is expected, and without one that is allowed', async () => {
    const service = await start(faulty);
    service.expectLog(fault);
    service.allowLog(/2\.en\.md/);
  });

  it('fails by itself', async () => {
    await start(sound);
    throw new Error('on purpose');
  });
});

describe('a service that a file started', () => {
  let service: TestService;
  before(async () => {
    service = await start(sound);
  });

  it('passes before a warning', async () => {
    match(await (await fetch(`${service.address}/readyz`)).text(), /"ready":true/);
  });

  it('fails for a warning while it runs', async () => {
    writeFiles(service.root, faulty);
    await eventually(() => match(service.log(), fault));
  });

  it('passes after a warning', async () => {
    match(await (await fetch(`${service.address}/readyz`)).text(), /"ready":true/);
  });
});

describe('what runs next', () => {
  it('passes without the services of before', () => {
    for (const pid of pids) strictEqual(existsSync(`/proc/${pid}`), false);
  });
});
