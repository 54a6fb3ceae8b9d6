import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { packageFolder, readPackageFile } from '../support/package-files.ts';

describe('botshelf in a process of its own', () => {
  it('alone reads the file of --env-file, which may be a pipe', () => {
    const run = (command: string): ReturnType<typeof spawnSync> =>
      spawnSync('sh', ['-c', command], {
        cwd: packageFolder,
        encoding: 'utf8',
        env: { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
      });
    const { stdout } = run('printf "PORT=81\\n" | bin/botshelf.js --env-file /dev/stdin settings');
    match(String(stdout), /^PORT\n(?: {2}.*\n)* {2}now: 81, from the environment$/m);
    const { status, stderr } = run('bin/botshelf.js --env-file gone settings');
    deepStrictEqual([status, stderr], [2, 'there is no gone: check the path\n']);
  });

  it('names the Node that it needs on an older one, where it also builds nothing', () => {
    const { engines, scripts } = JSON.parse(readPackageFile('package.json')) as {
      engines: { node: string };
      scripts: Readonly<Record<string, string>>;
    };
    strictEqual(engines.node, '>=20.19');
    match(scripts['build'] ?? '', /^node bin\/check-node\.js && tsc /);
    const run = (file: string, version: string): unknown[] => {
      const older = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
      const preload = `data:text/javascript,${encodeURIComponent(older)}`;
      const args = ['--import', preload, join(packageFolder, file), '--version'];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      return [status, stdout, stderr];
    };
    for (const version of ['18.20.8', '20.18.3'])
      for (const file of ['bin/check-node.js', 'bin/botshelf.js'])
        deepStrictEqual(run(file, version), [
          2,
          '',
          `Botshelf needs Node 20.19 or newer; this is v${version}. Install it from https://nodejs.org\n`,
        ]);
    for (const version of ['20.19.0', '21.0.0', '26.1.0'])
      deepStrictEqual(run('bin/check-node.js', version), [0, '', '']);
  });
});
