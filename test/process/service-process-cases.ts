import { strictEqual } from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';

// Tests that service-process.test.ts runs, to see which of them fail. Each title says whether it has to.
const warning = JSON.stringify({ level: 40, msg: 'a file breaks a rule' });
const fault = /a file breaks a rule/;

/** Starts a process that logs as a service does, with these lines before it is ready, and a warning at SIGUSR2. */
async function start(...lines: readonly string[]): Promise<ServiceProcess> {
  const service = await startServiceProcess('/', {}, [process.execPath, '-e', program, ...lines]);
  process.stderr.write(`started ${service.process.pid}\n`);
  return service;
}

const program = `
for (const line of process.argv.slice(1)) console.error(line);
process.on('SIGTERM', () => process.exit(0));
process.on('SIGUSR2', () => console.error(${JSON.stringify(warning)}));
setInterval(() => {}, 60_000);
console.error(JSON.stringify({ level: 30, msg: 'ready at http://127.0.0.1:1' }));
`;

describe('a service that a test started', () => {
  it('fails for a warning', async () => {
    await start(warning);
  });

  it('fails for a line that is none of the log', async () => {
    await start('Segfault');
  });

  it('fails for an expected warning that does not come', async () => {
    const service = await start();
    service.expectLog(fault);
  });

  it('passes with a warning that is expected, and without one that is allowed', async () => {
    const service = await start(warning);
    service.expectLog(fault);
    service.allowLog(/another/);
  });
});

describe('a service that a file started', () => {
  let service: ServiceProcess;
  before(async () => {
    service = await start();
  });

  it('fails for a warning while it runs', async () => {
    service.process.kill('SIGUSR2');
    await eventually(() => fault.test(service.log()));
  });

  it('passes after a warning', () => {
    strictEqual(service.process.exitCode, null);
  });
});
