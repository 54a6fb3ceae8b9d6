import { match, ok } from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../../../src/lib/errors.ts';
import { readPackageFile } from '../../support/package-files.ts';
import { eventually } from '../../support/eventually.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';
import { issueTestToken } from '../../support/token.ts';

/** The libraries that docs/api.md has a program for, and a client for the one that asks for its class. */
const packages = ['dbots@11.1.0', 'topgg-autoposter@2.0.2', 'eris@0.18.0'];

/** As much of a client of discord.js as dbots reads. */
const discordClient = `
class GuildManager {
  cache = { size: COUNT, reduce: () => 0 };
}
const client = { user: { id: '7' }, guilds: new GuildManager(), shard: SHARD };
`;

const erisClient = `
import { Client } from 'eris';
const client = new Client('Bot x');
client.ready = true;
for (let i = 0; i < COUNT; i++) client.guilds.set(i, {});
`;

describe('a library for many lists, with the program in docs/api.md', function () {
  // Most of it is the download.
  this.timeout(900_000);
  let folder: string;
  let service: TestService;
  let token: string;

  before(async () => {
    service = await startTestService({ [pagePath('7')]: mainPage() });
    token = await issueTestToken(service.root, '7');
    folder = tempFolder();
    writeFiles(folder, { 'package.json': '{ "type": "module" }' });
    const install = ['install', '--no-save', '--ignore-scripts', '--omit=optional', '--prefer-offline'];
    await promisify(execFile)('npm', [...install, ...packages], { cwd: folder }).catch((error: unknown) => {
      throw new Error(`cannot install ${packages.join(' and ')} from the npm registry: ${messageOf(error)}`);
    });
  });

  /** Runs a program until a condition holds. @param read receives what it printed */
  const runUntil = async (
    library: string,
    client: string,
    condition: (printed: string) => unknown,
  ): Promise<void> => {
    const guide = readPackageFile('docs/api.md');
    const blocks = [...guide.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code = '']) => code);
    const program = blocks.find((code) => code.includes(`from '${library}'`)) ?? '';
    const code = program
      .replaceAll('http://localhost:8080', service.address)
      .replace('startInterval()', 'startInterval(200)');
    writeFiles(folder, { 'program.js': client + code });
    const child = spawn(process.execPath, ['program.js'], { cwd: folder, env: { ...process.env, token } });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => (printed += String(chunk)));
    try {
      await eventually(async () => await condition(printed), 60);
    } finally {
      child.kill();
    }
  };

  const hasCount = (count: number) => async (): Promise<void> => {
    const { json } = await service.request('/api/v2/counts');
    ok(JSON.stringify(json).includes(`"7":{"count":${count},`), JSON.stringify(json));
  };

  it('posts the count of a bot: dbots @long', async () => {
    const client = discordClient.replace('COUNT', '156').replace('SHARD', 'null');
    await runUntil('dbots', client, hasCount(156));
  });

  it('says why the count of a shard is refused: dbots @long', async () => {
    const client = discordClient.replace('COUNT', '900').replace('SHARD', '{ ids: [2], id: 2, count: 4 }');
    await runUntil('dbots', client, (printed) => match(printed, /422/));
    await hasCount(156)();
  });

  it('posts the count of a bot: topgg-autoposter @long', async () => {
    await runUntil('topgg-autoposter', erisClient.replace('COUNT', '157'), hasCount(157));
  });
});
