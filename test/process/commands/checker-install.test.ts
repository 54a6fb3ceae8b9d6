import { match, strictEqual } from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyTemplate } from '../../../src/commands/init.ts';
import { type GitHostId, gitHosts } from '../../../src/git/hosts.ts';
import { startGitServer } from '../../support/git-server.ts';
import { listenOnLoopback } from '../../support/loopback.ts';
import { testRepository } from '../../support/repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** A package with a command, which a build makes, and with nothing that a registry would have. */
const files = {
  'package.json': JSON.stringify({
    name: 'botshelf',
    version: '1.0.0',
    bin: { botshelf: 'built.cjs' },
    files: ['built.cjs'],
    scripts: { prepare: 'node build.cjs' },
  }),
  'build.cjs': `require('fs').writeFileSync('built.cjs', '#!/usr/bin/env node\\nconsole.log(process.argv.slice(2).join(" "))\\n', { mode: 0o755 });`,
};

describe('the pipelines of a new catalogue have npm install the checker', () => {
  const { folder, git } = testRepository(files);
  const env = { ...process.env, HEAD_SHA: 'abc', npm_config_cache: tempFolder() };

  async function runPipelineLine(host: GitHostId, checker: string): Promise<string> {
    const catalogue = tempFolder();
    copyTemplate(catalogue, false, host, checker);
    const pipeline = readFileSync(join(catalogue, gitHosts[host].pipeline), 'utf8');
    strictEqual(/ BOTSHELF: (.*)/.exec(pipeline)?.[1], checker);
    const line = /\bnpx .*/.exec(pipeline)?.[0] ?? '';
    const options = { cwd: tempFolder(), env: { ...env, BOTSHELF: checker } };
    return (await promisify(execFile)('sh', ['-ec', line], options)).stdout;
  }

  const checked = /^check --base HEAD --head abc --fetch origin/m;

  it('from the address of a package file', async () => {
    const packed = tempFolder();
    execFileSync('npm', ['pack', '--silent', '--pack-destination', packed], { cwd: folder, env });
    const bytes = readFileSync(join(packed, 'botshelf-1.0.0.tgz'));
    const { port } = await listenOnLoopback(createServer((_, response) => response.end(bytes)));
    match(await runPipelineLine('github', `http://127.0.0.1:${port}/botshelf-1.0.0.tgz`), checked);
  });

  it('from a commit at a Git address', async () => {
    const hosted = tempFolder();
    git('clone', '-q', '--bare', folder, join(hosted, 'botshelf.git'));
    const { address } = await startGitServer(hosted, ['botshelf.git']);
    const commit = git('rev-parse', 'HEAD');
    match(await runPipelineLine('forgejo', `git+${address}/botshelf.git#${commit}`), checked);
  });

  it('from a folder of this machine', async () => {
    match(await runPipelineLine('gitlab', `file://${folder}`), checked);
  });
});
