import { deepStrictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../../../src/lib/errors.ts';
import { mainPage, pagePath, writeFiles } from '../../support/sample.ts';
import { startTestService } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestToken } from '../../support/token.ts';

const run = promisify(execFile);
const tsc = fileURLToPath(new URL('./node_modules/typescript/bin/tsc', import.meta.resolve('#package')));

/** A generator of clients, and a program as its user writes it. */
const packages = ['@hey-api/openapi-ts@0.99.0', 'typescript@5.9.3'];
const program = `
import { client } from './api/client.gen.js';
import { getCommands, listBots, putCommands, updateBot } from './api/sdk.gen.js';

export async function results(baseUrl: string, token: string) {
  client.setConfig({ baseUrl, auth: token });
  const path = { id: '7' };
  const list = await listBots({ query: { category: ['fun', 'games'], limit: 5 } });
  const post = await updateBot({ path, body: { bot: { count: 156 } } });
  const put = await putCommands({ path, body: [{ name: 'ping', description: 'Answers.' }] });
  const commands = await getCommands({ path });
  // @ts-expect-error -- a count is a number
  const refused = await updateBot({ path, body: { bot: { count: '156' } } });
  return {
    names: list.data?.map(({ contents }) => contents?.['en']?.name),
    count: post.data?.bot.count,
    put: put.data?.commands,
    commands: commands.data?.map(({ name }) => name),
    refused: refused.error?.errors?.[0]?.detail,
  };
}
`;

describe('a client that a generator makes from the OpenAPI document of a service', () => {
  it('compiles, reads, posts and handles a problem: hey-api @long', async function () {
    // Most of it is the download.
    this.timeout(900_000);
    const { address, root } = await startTestService({ [pagePath('7')]: mainPage() });
    const token = await issueTestToken(root, '7');
    const folder = tempFolder();
    const document = await (await fetch(`${address}/api/openapi.json`)).text();
    writeFiles(folder, { 'openapi.json': document, 'program.ts': program });
    writeFiles(folder, {
      'package.json': '{ "type": "module" }',
      'tsconfig.json': '{ "compilerOptions": { "module": "nodenext" } }',
    });
    const install = ['install', '--no-save', '--ignore-scripts', '--prefer-offline', '--no-engine-strict'];
    await run('npm', [...install, ...packages], { cwd: folder }).catch((error: unknown) => {
      throw new Error(`cannot install ${packages.join(' and ')} from the npm registry: ${messageOf(error)}`);
    });
    await run('npx', ['--no-install', 'openapi-ts', '--input', 'openapi.json', '--output', 'api'], {
      cwd: folder,
    });
    const options = '--strict --module nodenext --target es2023 --lib es2023,dom --ignoreConfig';
    await run(process.execPath, [tsc, ...options.split(' '), 'program.ts'], { cwd: folder }).catch(
      ({ stdout }: { readonly stdout: string }) => {
        throw new Error(stdout);
      },
    );
    const { results } = (await import(pathToFileURL(join(folder, 'program.js')).href)) as Program;
    deepStrictEqual(await results(address, token), {
      names: ['Homer'],
      count: 156,
      put: 1,
      commands: ['ping'],
      refused: 'this is the text "156": write a whole number, without quotes',
    });
  });
});

interface Program {
  results(address: string, token: string): Promise<unknown>;
}
