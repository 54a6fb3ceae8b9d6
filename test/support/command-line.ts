import { type ExecFileException, execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What a run of `botshelf` came to. */
export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The compiled command line. */
export const mainFile = fileURLToPath(new URL('./dist/src/main.js', import.meta.resolve('#package')));

/** Runs `botshelf` with the catalogue at `root`, which is also the current folder unless another is given. */
export async function botshelf(
  root: string,
  args: readonly string[],
  more: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Run> {
  const { cwd = root } = more;
  const env = { PATH: process.env['PATH'], BOTSHELF_CATALOGUE: root, ...more.env };
  return await new Promise((resolve) => {
    const done = (error: ExecFileException | null, stdout: string, stderr: string): void => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    };
    const options = { cwd, env, maxBuffer: Number.POSITIVE_INFINITY };
    execFile(process.execPath, [mainFile, ...args], options, done).stdin?.end();
  });
}

/** Runs git in a test's repository, with nothing of this machine's configuration. */
export function git(folder: string, ...args: string[]): string {
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const author = ['-c', 'user.name=Marge', '-c', 'user.email=marge@example.org'];
  return execFileSync('git', ['-C', folder, ...author, ...args], { env, encoding: 'utf8', stdio: 'pipe' });
}

/** Makes a folder a repository, with one commit of all that is in it, on the branch main. */
export function commitAll(folder: string, message = 'Begin'): void {
  git(folder, 'init', '--quiet', '--initial-branch=main');
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--allow-empty', `--message=${message}`);
}
