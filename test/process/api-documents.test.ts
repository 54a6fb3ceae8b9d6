import { ok, strictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toSettings } from '../../src/catalogue/settings/settings.ts';
import { openApi } from '../../src/http/api/openapi.ts';
import {
  advice,
  type ApiDocument,
  fillGuide,
  fillOutputs,
  formatJson,
  listExamples,
  type Problem,
} from '../support/api-guide.ts';
import { packageFolder } from '../support/package-files.ts';
import { commitCounts } from '../support/counts.ts';
import { eventually } from '../support/eventually.ts';
import { withProposals } from '../support/replica.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { collection } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';
import { issueTestToken } from '../support/token.ts';

const path = join(packageFolder, 'docs/api.md');
const bot = 'localhost:8080/api/v2/bots/190519304972663312';
const post = (body: string, more = '', token = '$token'): string =>
  `curl ${bot}${more} \\\n    -H "Authorization: ${token}" -H 'Content-Type: application/json' -d '${body}'`;

/** A request that shows each error. The last ones change what the service can do. */
const errors: Readonly<Record<string, string>> = {
  400: "curl 'localhost:8080/api/v2/bots?limit=0'",
  401: `curl ${bot} -d '{"bot": {"count": 156}}'`,
  403: post('{"bot": {"count": 156}}', '', '$other'),
  404: 'curl localhost:8080/api/v2/bots/1',
  405: `curl -X DELETE ${bot}`,
  406: `curl ${bot} -H 'Accept-Encoding: identity;q=0'`,
  409: post('{"bot": {"website": "https://example.org/409"}}'),
  410: `curl 'localhost:8080/api/v2/changes?since=${'0'.repeat(40)}'`,
  412: post('{"bot": {"count": 156}}', ' -H \'If-Match: "old"\''),
  413: `head -c 70000 /dev/zero | curl ${bot} \\\n    -H "Authorization: $token" -H 'Content-Type: application/json' --data-binary @-`,
  415: `curl ${bot} -H "Authorization: $token" -H 'Content-Type: text/plain' -d 156`,
  422: post('{"bot": {"count": "156"}}'),
  429: `curl ${bot} -H 'Authorization: mistyped' -d '{}'`,
  503: post('{"bot": {"website": "https://example.org/503"}}'),
};

describe('docs/api.md', function () {
  const document = openApi('https://bots.example.org', toSettings()) as ApiDocument;
  const text = readFileSync(path, 'utf8');
  let root: string;
  let service: TestService;
  let env: Record<string, string>;

  before('the sample catalogue, with a token for its bot', async () => {
    root = testRepository({}).folder;
    cpSync(join(packageFolder, 'bots'), join(root, 'bots'), { recursive: true });
    writeFiles(root, {
      'botshelf.json': '{ "maintainers": ["42"] }',
      'collections/sample.en.md': collection({ bots: ['190519304972663312', '948120663307245578'] }),
    });
    const { git } = repositoryIn(root);
    commitCounts(root, [
      { time: Math.floor(Date.now() / 1000) - 86_400, counts: { '190519304972663312': 150 } },
    ]);
    const file = join(root, 'bots/312/190519304972663312.en.md');
    const page = readFileSync(file, 'utf8');
    for (const version of [page.replace('"category": "fun"', '"category": "games"'), page]) {
      writeFileSync(file, version);
      git('add', '.');
      git('commit', '-q', '-m', 'Change the sample');
    }
    const token = await issueTestToken(root, '190519304972663312');
    const other = await issueTestToken(root, '233904118750642176');
    env = { PATH: process.env['PATH'] ?? '', token, other };
    const settings = { ...withProposals, BOTSHELF_BAD_TOKEN_LIMIT: '20' };
    service = await startTestService({}, { root, env: settings });
  });

  const atService = (code: string): string =>
    code.replaceAll('localhost:8080', new URL(service.address).host);

  /** Prepares the failure that a command shows. @returns a function that undoes it */
  const prepare = async (command: string): Promise<() => void> => {
    const { git } = repositoryIn(root);
    // The history is read in the background, that of a bot up to the last commit.
    if (command.endsWith('/changes'))
      await eventually(async () => {
        const response = await fetch(atService(command.replace('curl ', 'http://')));
        strictEqual(response.status, 200);
        const newest = (await response.json()) as { next?: string } & { commit?: string }[];
        strictEqual(newest.next ?? newest[0]?.commit, git('rev-parse', 'HEAD'));
      });
    if (command === errors['409']) {
      service.allowLog(/uncommitted/);
      appendFileSync(join(root, 'bots/312/190519304972663312.en.md'), '\n');
      return () => git('checkout', '-q', '.');
    }
    if (command === errors['429']) {
      const init = { method: 'POST', headers: { Authorization: 'mistyped' } };
      for (let i = 0; i < 20; i++) await fetch(`${service.address}/api/v2/bots/190519304972663312`, init);
    }
    if (command !== errors['503']) return () => {};
    service.expectLog(/HEAD is on no branch/);
    git('switch', '-q', '--detach');
    return () => git('switch', '-q', 'main');
  };

  it(`has the routes, errors and responses of the service; else ${advice}`, async () => {
    const folder = tempFolder();
    const run = async (command: string): Promise<string> => {
      const restore = await prepare(command);
      const script = atService(command).replace('curl ', 'curl --silent --show-error ');
      const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd: folder, env });
      restore();
      return stdout;
    };
    const problems = new Map<string, Problem>();
    for (const [status, command] of Object.entries(errors))
      problems.set(status, JSON.parse(await run(command)) as Problem);
    const guide = fillGuide(text, document, problems);
    const outputs = new Map<string, string>();
    for (const { command } of listExamples(guide)) {
      const printed = await run(command);
      // Of lines of JSON the beginning of the first is shown.
      const isInLines = command.endsWith('.ndjson');
      const json = JSON.parse(isInLines ? (printed.split('\n')[0] ?? '') : printed) as Printed;
      const expected = Object.keys(errors).find((status) => errors[status] === command);
      strictEqual(json.status?.toString(), expected, `${command}\n${printed}`);
      outputs.set(command, isInLines ? `${printed.slice(0, 160)}…\n` : `${formatJson(json)}\n`);
    }
    const filled = fillOutputs(guide, outputs);
    if (process.env['API_GUIDE'] === 'write') return writeFileSync(path, filled);
    strictEqual(withoutTimes(text), withoutTimes(filled), `docs/api.md differs from the service: ${advice}`);
  });

  it('has no example twice, and those of all routes', () => {
    const commands = listExamples(text).map(({ command }) => command);
    strictEqual(new Set(commands).size, commands.length);
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const own = operations.filter(({ description = '' }) => !/^(?:The same as|A path of)/.test(description));
    ok(commands.length >= own.length);
  });
});

interface Printed {
  readonly status?: number;
}

/** Returns the text with every day, commit and number of seconds as the same one. */
function withoutTimes(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?/g, '2026-11-22')
    .replaceAll(/\b[0-9a-f]{40}\b/g, '0')
    .replaceAll(/\b\d+ (?=s\b|seconds?\b)/g, '1 ');
}
