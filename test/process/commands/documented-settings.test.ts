import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { addCommands } from '../../../src/commands/add-commands.ts';
import type { DoctorResult } from '../../../src/commands/doctor-results.ts';
import { parseEnvironmentFile } from '../../../src/lib/setting-reader.ts';
import { fixtureLines } from '../../support/fixture-lines.ts';
import { readPackageFile } from '../../support/package-files.ts';
import { botshelf } from '../../support/command-line.ts';
import { startProvider } from '../../support/login-provider.ts';
import { freePort } from '../../support/loopback.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService } from '../../support/service.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** The commands that run a service. */
const services = ['serve', 'demo', 'mirror'];

/** Each other command, with arguments with which it succeeds, in this order. */
const commands = fixtureLines('commands-that-succeed.txt').map((line) => line.split(' '));

/** The steps of docs/production.md that write settings. */
const steps = ['5. Settings and secrets', '9. The login'];

/** The checks of botshelf doctor whose results depend on the machine that the tests run on. */
const ofMachine = new Set(['file system', 'disk space', 'inotify', 'open files']);

/** Runs the commands of these steps below a folder. Returns the file of settings. */
function followDocument(
  done: readonly string[],
  etc: string,
  more: readonly [from: string, to: string][],
): string {
  const document = readPackageFile('docs/production.md');
  for (const step of done) {
    const [, script = ''] = document.split(`## ${step}\n`)[1]?.split(/^```(?:console)?\n/m) ?? [];
    ok(script.includes('/etc/botshelf/env'), step);
    const ofSystemd = /^(?:sed|systemctl) .*\n/gm;
    const text = script.replaceAll(ofSystemd, '').replaceAll('/etc/botshelf', etc);
    execFileSync('sh', ['-e'], {
      input: text,
      env: { ...process.env, CLIENT_SECRET: 'a-secret' },
      stdio: 'pipe',
    });
  }
  const path = join(etc, 'env');
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    more.reduce((all, [from, to]) => all.replaceAll(from, to), text),
  );
  return path;
}

describe('every command with the settings of docs/production.md', () => {
  for (const done of [steps.slice(0, 1), steps])
    it(`succeeds after step ${done.at(-1)} @slow`, async () => {
      const all = addAll().filter((name) => !services.includes(name));
      deepStrictEqual(new Set(commands.map(([name]) => name)), new Set(all));
      const folder = tempFolder();
      const { folder: root } = sharedRepository({ [pagePath('7')]: mainPage() }).clone();
      const [restored, probePort] = [join(folder, 'restored'), String(await freePort())];
      const ports = ['8081', probePort] as const;
      const file = followDocument(done, join(folder, 'etc'), [['/srv/botshelf/catalogue', root], [...ports]]);
      writeFileSync(join(folder, 'list.csv'), 'id,name\n');
      writeFileSync(join(folder, 'list.map.json'), '{"id":"id","name":"name"}');
      for (const [name = '', ...args] of commands) {
        if (name === 'doctor') continue;
        const env = { BOTSHELF_CATALOGUE: '/none' };
        const settings = name === 'restore' ? join(folder, 'other') : file;
        if (name === 'restore')
          writeFileSync(settings, readFileSync(file, 'utf8').replaceAll(root, restored));
        const run = await botshelf(root, ['--env-file', settings, name, ...args], { cwd: folder, env });
        strictEqual(run.code, 0, `${name}: ${run.stderr}`);
      }
    });

  it('is checked by botshelf doctor, which finds nothing wrong once the service runs, with secrets of its own @slow', async () => {
    const shared = sharedRepository({ [pagePath('7')]: mainPage() });
    shared.git('config', 'gc.cruftPacks', 'true');
    const { folder: root } = shared.clone();
    const [port, probePort] = [String(await freePort()), String(await freePort())];
    const { issuer } = await startProvider(`http://localhost:${port}`);
    const file = followDocument(steps, join(tempFolder(), 'etc'), [
      ['BOTSHELF_OAUTH_PROVIDER=discord', `BOTSHELF_OAUTH_ISSUER=${issuer}`],
      ['/srv/botshelf/catalogue', root],
      ['https://bots.example.org', `http://localhost:${port}`],
      ['8081', `${probePort}\nPORT=${port}`],
    ]);
    const findWrong = async (): Promise<readonly string[]> => {
      const { stdout } = await botshelf(root, ['--env-file', file, 'doctor', '--json']);
      const { checks } = JSON.parse(stdout) as { checks: DoctorResult[] };
      const wrong = checks.filter(({ name, state }) => state !== 'ok' && !ofMachine.has(name));
      return wrong.map(({ name, state, reason }) => `${state} ${name}: ${reason}`);
    };
    match((await findWrong())[0] ?? '', /^warning settings: BOTSHELF_OAUTH_CLIENT_SECRET is not set/);
    const secret = { BOTSHELF_OAUTH_CLIENT_SECRET: 'a-secret' };
    const env = { ...parseEnvironmentFile(readFileSync(file, 'utf8')), ...secret };
    await startTestService({}, { root, env });
    deepStrictEqual(await findWrong(), []);
  });
});

function addAll(): readonly string[] {
  const program = new Command();
  addCommands(program);
  return program.commands.map((command) => command.name());
}
