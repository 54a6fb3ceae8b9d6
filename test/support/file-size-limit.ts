import { execFileSync } from 'node:child_process';

/** Runs `work` while no file of this process may grow past `bytes`: a write fails with EFBIG, as on a full disk. */
export async function withFileSizeLimit<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
  const limit = (size: number | 'unlimited'): void =>
    void execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${size}:`]);
  limit(bytes);
  try {
    return await work();
  } finally {
    limit('unlimited');
  }
}
