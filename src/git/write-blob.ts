import { spawn } from 'node:child_process';
import { GitExit } from './git-exit.ts';
import { gitEnvironment } from './git-process.ts';

/** Has git write a blob of any size into an open file: none of it comes into our memory. @throws {GitExit} */
export async function writeBlob(folder: string, id: string, file: number): Promise<void> {
  const args = ['-c', 'core.bigFileThreshold=1m', 'cat-file', 'blob', id];
  const child = spawn('git', args, { cwd: folder, env: gitEnvironment(), stdio: ['ignore', file, 'pipe'] });
  let stderr = '';
  child.stderr?.on('data', (chunk) => (stderr += String(chunk)));
  await new Promise<void>((resolve, reject) => {
    child.on('error', (error) => reject(new GitExit(args, -1, error.message)));
    child.on('close', (code) => (code === 0 ? resolve() : reject(new GitExit(args, code, stderr))));
  });
}
