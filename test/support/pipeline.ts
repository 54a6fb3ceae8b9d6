import { strictEqual } from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { copyTemplate } from '../../src/commands/init.ts';
import { type GitHostId, gitHosts } from '../../src/git/hosts.ts';
import { packageFolder } from './package-files.ts';
import { mainFile } from './command-line.ts';
import { repositoryIn, type TestRepository } from './repository.ts';
import { runSync } from './run-sync.ts';
import { tempFolder } from './temp-folder.ts';

export interface PipelineRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The clone that the pipeline made. */
  readonly clone: TestRepository;
}

/** The commands of a pipeline, and their environment. */
interface Job {
  readonly commands: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Runs the check of a pull request to `main` as the host does it: the commands of its pipeline, in a shell, with the
 * host's variables.
 * @param origin the repository on the host
 * @param head the last commit of the pull request
 */
export function runPipeline(
  host: GitHostId,
  origin: Pick<TestRepository, 'folder' | 'git'>,
  head: string,
): PipelineRun {
  origin.git('config', 'uploadpack.allowFilter', 'true');
  const workspace = tempFolder();
  symlinkSync(origin.folder, join(workspace, 'origin.git'));
  const values: Readonly<Record<string, string>> = {
    'github.workspace': workspace,
    'github.server_url': `file://${workspace}`,
    'github.repository': 'origin',
    'github.event.pull_request.base.ref': 'main',
    'github.event.pull_request.head.sha': head,
    CI_MERGE_REQUEST_PROJECT_URL: `file://${workspace}/origin`,
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
    CI_COMMIT_SHA: head,
  };
  const { commands, env } = jobOf(host, values);
  const { status, stdout, stderr } = runSync({
    program: 'bash',
    args: ['-e', '-o', 'pipefail', '-c', commands.join('\n')],
    cwd: workspace,
    env: { ...env, PATH: `${commandsFolder(env['BOTSHELF'])}:${process.env['PATH']}` },
  });
  return { code: status, stdout, stderr, clone: repositoryIn(join(workspace, 'catalogue')) };
}

/** Reads the pipeline of a new catalogue, with the host's values in its environment. */
function jobOf(host: GitHostId, values: Readonly<Record<string, string>>): Job {
  const folder = tempFolder();
  copyTemplate(folder, false, host);
  const file = parse(readFileSync(join(folder, gitHosts[host].pipeline), 'utf8')) as PipelineFile;
  const pattern = host === 'gitlab' ? /\$(CI_[A-Z_]+)/g : /\$\{\{ (.*?) \}\}/g;
  const withValues = (text: string): string =>
    text.replace(pattern, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`the test has no value for ${name}`);
      return value;
    });
  const envOf = (variables: Variables = {}): Variables =>
    Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, withValues(value)]));
  if (file.catalogue !== undefined)
    return { commands: file.catalogue.script, env: envOf(file.catalogue.variables) };
  const { env, steps } = file.jobs.check;
  const commands = steps.flatMap(({ uses, run, with: inputs }) =>
    uses?.startsWith('actions/checkout@') ? checkout(inputs, withValues, values) : (run ?? []),
  );
  return { commands, env: Object.assign(envOf(env), ...steps.map((step) => envOf(step.env))) };
}

type Variables = Readonly<Record<string, string>>;

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Variables;
  readonly with?: Readonly<Record<string, string | number>>;
}

interface PipelineFile {
  readonly jobs: { readonly check: { readonly env?: Variables; readonly steps: readonly Step[] } };
  readonly catalogue?: { readonly script: readonly string[]; readonly variables: Variables };
}

/** Returns what actions/checkout does with these inputs: `sparse-checkout` makes it leave out files that are not needed. */
function checkout(
  inputs: Step['with'] = {},
  withValues: (text: string) => string,
  values: Readonly<Record<string, string>>,
): string {
  const { ref = '', path, 'sparse-checkout': sparse, ...others } = inputs;
  strictEqual(JSON.stringify(others), '{"fetch-depth":0}');
  const branch = withValues(String(ref)).replace('refs/heads/', '');
  const address = `${values['github.server_url']}/${values['github.repository']}.git`;
  return `git clone --quiet --filter=blob:none --sparse --branch '${branch}' '${address}' '${path}'
git -C '${path}' sparse-checkout set '${sparse}'`;
}

/** Makes a folder with an npx that runs this build where this package is wanted. */
function commandsFolder(wanted: string | undefined): string {
  strictEqual(wanted, `file://${packageFolder}/`);
  const folder = join(tempFolder(), 'bin');
  mkdirSync(folder);
  const script = `#!/bin/bash
[ "$1 $2 $3 $4 $5" = "--yes --allow-git=root --allow-remote=root --package=${wanted} botshelf" ] || { echo "npx $*" >&2; exit 99; }
exec '${process.execPath}' '${mainFile}' "\${@:6}"
`;
  writeFileSync(join(folder, 'npx'), script);
  chmodSync(join(folder, 'npx'), 0o755);
  return folder;
}
