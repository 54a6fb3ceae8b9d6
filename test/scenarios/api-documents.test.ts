import { deepStrictEqual, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../support/clone.ts';
import { testRepository } from '../support/repository.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { issueTestToken } from '../support/token.ts';

const text = readFileSync(join(packageFolder, 'docs/api.md'), 'utf8');

interface Example {
  readonly command: string;
  /** What follows it in the document; empty where nothing does. */
  readonly output: string;
}

const examples: readonly Example[] = [...text.matchAll(/^```console\n([^]*?)^```$/gm)].flatMap(
  ([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((example) => {
        const [, command = '', output = ''] = /^((?:.*\\\n)*.*)\n([^]*)$/.exec(example) ?? [];
        return { command, output: output.trim() };
      }),
);

describe('the examples of docs/api.md', () => {
  let service: ServiceProcess;
  let token: string;

  before('the sample catalogue, with a token for its bot', async () => {
    const root = testRepository({}).folder;
    cpSync(join(packageFolder, 'bots'), join(root, 'bots'), { recursive: true });
    token = await issueTestToken(root, '190519304972663312');
    service = await startServiceProcess(root);
  });

  it('are several', () => ok(examples.length >= 6));

  for (const { command, output } of examples) {
    it(`return what the document shows: ${command.slice(0, 80)}`, () => {
      const script = command
        .replace('curl ', 'curl --silent --show-error ')
        .replace('localhost:8080', service.address.replace('http://', ''));
      const printed = execFileSync('bash', ['-c', script], {
        env: { PATH: process.env['PATH'] ?? '', token },
      });
      const json: unknown = JSON.parse(String(printed));
      if (output !== '') deepStrictEqual(withoutDates(json), withoutDates(JSON.parse(output)));
    });
  }
});

/** Returns the value with every date as the same one. */
function withoutDates(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/"\d{4}-\d\d-\d\d"/g, '"2026-11-22"'));
}
