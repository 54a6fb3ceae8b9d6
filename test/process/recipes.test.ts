import { deepStrictEqual, doesNotMatch, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { parse as parseYaml } from 'yaml';
import { readConfig } from '../../src/app/config.ts';
import { packageFolder, readPackageFile } from '../support/package-files.ts';
import { botshelf } from '../support/command-line.ts';
import { freePort } from '../support/loopback.ts';
import { proposalSettings } from '../support/proposals.ts';
import { withProposals } from '../support/replica.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { issueTestToken } from '../support/token.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** A container of the compose file. */
type Container = { environment: Record<string, string>; command: string } & Record<string, unknown>;

describe('the recipes for operators', () => {
  const { services } = parseYaml(readPackageFile('compose.yaml')) as {
    services: { botshelf: Container; proxy: Container };
  };

  it('name settings that there are', () => {
    const documents = readdirSync(join(packageFolder, 'docs'))
      .filter((name) => /\.(?:md|service)$/.test(name))
      .map((name) => `docs/${name}`);
    const texts = ['README.md', 'Containerfile', 'compose.yaml', ...documents].map(readPackageFile);
    const names = new Set(texts.join('\n').match(/\bBOTSHELF_[A-Z_]*[A-Z]\b/g));
    ok(names.size > 20);
    // The first is of compose.yaml alone, the second the beginning of several names.
    for (const name of ['BOTSHELF_HOST', 'BOTSHELF_OAUTH']) names.delete(name);
    deepStrictEqual(readConfig(Object.fromEntries([...names].map((name) => [name, '']))).unknown, []);
  });

  it('have a workflow that sends a part of README.md', async () => {
    interface Workflow {
      readonly jobs: { readonly page: { readonly steps: readonly { readonly run?: string }[] } };
    }
    const { jobs } = parseYaml(readPackageFile('docs/put-page.yml')) as Workflow;
    const script = jobs.page.steps.flatMap(({ run = [] }) => run).join('');
    const repository = testRepository({ [pagePath('1')]: mainPage(), 'botshelf.json': proposalSettings });
    const { address } = await startTestService({}, { root: repository.folder, env: withProposals });
    const cwd = tempFolder();
    const run = async (readme: string): Promise<string> => {
      writeFileSync(join(cwd, 'README.md'), readme);
      const TOKEN = await issueTestToken(repository.folder, '1');
      const env = { PATH: process.env['PATH'], PAGE: `${address}/api/v2/bots/1/pages/en`, TOKEN };
      return (await promisify(execFile)('sh', ['-ec', script], { cwd, env })).stdout;
    };
    await rejects(run('# Homer\n'));
    const part = '<!-- botshelf -->\n# Homer\n\n<!-- A note. -->\nText.\n<!-- /botshelf -->\n';
    match(await run(`# Source\n\n${part}\n## Build\n`), /"state":"waiting"/);
    match(
      repository.git('show', `refs/botshelf/proposals/1/1:${pagePath('1')}`),
      /---\n\n# Homer\n\n<!-- A note\. -->\nText\.$/,
    );
  });

  it('have a container of Node 26 that is not root and writes to its volumes only', () => {
    const container = readPackageFile('Containerfile');
    match(container, /^ARG BASE=docker\.io\/library\/node:26\.\d+\.\d+-alpine(?:@sha256:[\da-f]{64})?$/m);
    deepStrictEqual(container.match(/^FROM \S+/gm), ['FROM ${BASE}', 'FROM ${BASE}']);
    match(container, /^USER (?!0:|root)\d+:\d+$/m);
    match(container, /^VOLUME \["\/catalogue", "\/var\/lib\/botshelf"\]$/m);
    const { botshelf } = services;
    strictEqual(botshelf['read_only'], true);
    deepStrictEqual(botshelf['volumes'], ['./catalogue:/catalogue', 'var:/var/lib/botshelf']);
  });

  it('have a container whose check asks the port that the probes are on', async () => {
    const [, check = ''] = /^HEALTHCHECK .* CMD (wget .+)$/m.exec(readPackageFile('Containerfile')) ?? [];
    const run = async (env: NodeJS.ProcessEnv): Promise<unknown> =>
      await promisify(execFile)('sh', ['-c', check], { env: { PATH: process.env['PATH'], ...env } });
    const [PORT, probePort] = [String(await freePort()), String(await freePort())];
    const probes = { PORT, BOTSHELF_PROBE_PORT: probePort };
    await startTestService({ [pagePath('1')]: mainPage() }, { env: probes });
    await run(probes);
    await rejects(run({ PORT }));
    await run({ PORT: probePort });
  });

  it('have a compose file whose probes are on a port that its proxy does not reach', () => {
    const { environment, ports } = services.botshelf;
    deepStrictEqual(ports, undefined);
    match(services.proxy.command, / --to botshelf:8080$/);
    match(environment['BOTSHELF_PROBE_PORT'] ?? '', /^(?!8080$)\d+$/);
  });

  it('have a unit that systemd starts again every ten seconds, whatever it ended with and however often', () => {
    const [, unit = '', service = ''] = readPackageFile('docs/botshelf.service').split(/^\[\w+\]$/m);
    match(unit, /^StartLimitIntervalSec=0$/m);
    match(service, /^Type=notify$/m);
    match(service, /^Restart=on-failure\nRestartSec=10$/m);
    doesNotMatch(service, /^RestartPreventExitStatus=/m);
  });

  it('have a unit that makes a backup, and a timer for it', async () => {
    const unit = readPackageFile('docs/botshelf-backup.service');
    const [, command = ''] = /^ExecStart=\/usr\/local\/bin\/botshelf (.+)$/m.exec(unit) ?? [];
    const { folder } = testRepository({ [pagePath('1')]: mainPage() });
    const args = command.replace('/srv/botshelf', tempFolder()).split(' ');
    const { code, stdout, stderr } = await botshelf(folder, args);
    deepStrictEqual([code, stderr], [0, '']);
    match(stdout, / has a backup, /);
    match(readPackageFile('docs/botshelf-backup.timer'), /^OnCalendar=hourly$/m);
  });
});

describe('the workflows of the project', () => {
  it('run the tests on the oldest Node that works, the recommended ones and those between', () => {
    const { jobs } = parseYaml(readPackageFile('.github/workflows/ci.yml')) as {
      jobs: { test: { strategy: { matrix: { node: number[] } } } };
    };
    deepStrictEqual(jobs.test.strategy.matrix.node, [20, 22, 24, 26]);
    const { engines } = JSON.parse(readPackageFile('package.json')) as { engines: { node: string } };
    deepStrictEqual(engines.node, '>=20.19');
    for (const document of ['README.md', 'docs/production.md'])
      match(readPackageFile(document), /Node(?:\.js)? 24 or 26/);
  });

  it('allow the user namespaces that tests need, wherever they run these', () => {
    for (const name of readdirSync(join(packageFolder, '.github/workflows'))) {
      const [before, ...runs] = readPackageFile(`.github/workflows/${name}`).split('- run: .ci/run');
      const allowed = before?.includes('kernel.apparmor_restrict_unprivileged_userns=0');
      deepStrictEqual([name, runs.length === 0 || allowed], [name, true]);
    }
  });

  interface Job {
    readonly needs?: string | readonly string[];
    readonly permissions?: Readonly<Record<string, string>>;
    readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
  }

  const workflows = [
    'catalogue-template/github/.github/workflows/catalogue.yml',
    ...readdirSync(join(packageFolder, '.github/workflows')).map((name) => `.github/workflows/${name}`),
  ];
  const jobsOf = (name: string): [string, Job][] => {
    const { permissions, jobs } = parseYaml(readPackageFile(name)) as {
      permissions: unknown;
      jobs: Record<string, Job>;
    };
    deepStrictEqual(permissions, { contents: 'read' }, name);
    return Object.entries(jobs);
  };

  it('have actions pinned by commit, and a token that may read alone, but for the jobs that publish', () => {
    const powers: Record<string, Job['permissions']> = {};
    for (const name of workflows)
      for (const [job, { permissions, steps }] of jobsOf(name)) {
        if (permissions) powers[`${basename(name)} ${job}`] = permissions;
        for (const { uses, run } of steps) {
          if (uses !== undefined) match(uses, /@[0-9a-f]{40}$/, name);
          doesNotMatch(run ?? '', /\$\{\{/, 'nothing of an event is put into a command');
        }
      }
    deepStrictEqual(powers, {
      'release.yml npm': { 'id-token': 'write' },
      'release.yml pypi': { 'id-token': 'write' },
      'release.yml github': { contents: 'write' },
    });
  });

  it('run no code of the project or of a library in a job that publishes', () => {
    for (const name of workflows)
      for (const [, { steps }] of jobsOf(name).filter(([, job]) => job.permissions))
        for (const { uses, run = '' } of steps) {
          if (uses !== undefined)
            match(uses, /^(?:actions\/(?:download-artifact|setup-node)|pypa\/gh-action-pypi-publish)@/);
          doesNotMatch(run, /\b(?:npx|node|npm (?!view|publish)\S+)\b/);
          for (const [line] of run.matchAll(/npm publish.*/g))
            match(line, /^npm publish \.\/\S+\.tgz --provenance --access public --ignore-scripts$/);
        }
  });

  it('publish what was built and tested', () => {
    const jobs = Object.fromEntries(jobsOf('.github/workflows/release.yml'));
    const needed = ['npm', 'pypi', 'github'].map((job) => String(jobs[job]?.needs));
    deepStrictEqual(needed, ['test,build', 'test,build', 'npm,pypi']);
  });

  it('name the repository of whoever publishes in both packages before they pack, because the provenance does', () => {
    const commands = jobsOf('.github/workflows/release.yml').flatMap(([, { steps }]) =>
      steps.map(({ run = '' }) => run),
    );
    const [naming = ''] = commands.filter((run) => run.includes('npm pkg set'));
    ok(commands.indexOf(naming) < commands.indexOf('npm pack --pack-destination release'));
    const cwd = tempFolder();
    const manifests = ['package.json', 'clients/typescript/package.json'];
    for (const path of manifests) cpSync(join(packageFolder, path), join(cwd, path));
    const env = { GITHUB_SERVER_URL: 'https://git.example.org', GITHUB_REPOSITORY: 'people/botshelf' };
    execFileSync('bash', ['-e', '-c', naming], { cwd, env: { ...process.env, ...env } });
    for (const path of manifests) {
      const repository = { type: 'git', url: 'git+https://git.example.org/people/botshelf.git' };
      const before = JSON.parse(readPackageFile(path)) as object;
      deepStrictEqual(JSON.parse(readFileSync(join(cwd, path), 'utf8')), { ...before, repository });
    }
  });
});
