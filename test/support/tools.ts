import { spawnSync } from 'node:child_process';

/** The tools that some tests need besides Node and Git, each with a command that succeeds if it works. */
const tools = {
  chromium: [process.env['CHROMIUM_PATH'] ?? 'true', '--version'],
  gcc: ['cc', '--version'],
  pip: ['python3', '-m', 'pip', '--version'],
  python3: ['python3', '--version'],
  'a second file system': ['sh', '-c', '[ "$(stat -c %d /dev/shm)" != "$(stat -c %d /var/tmp)" ]'],
  strace: ['strace', '-f', '-o', '/dev/null', 'true'],
  wrk: ['sh', '-c', 'command -v wrk'],
  unshare: ['unshare', '-Urpfm', '--mount-proc', 'true'],
} as const;

/**
 * Returns `define`, which is `describe` or `it`, where the tool works. Elsewhere the tests are left out and a line names them;
 * scripts/test.ts prints these lines at the end. In CI they run and fail, so that none is lost there.
 */
export function needs<Define extends Mocha.SuiteFunction | Mocha.TestFunction>(
  tool: keyof typeof tools,
  define: Define,
): Define {
  const [program, ...args] = tools[tool];
  if (process.env['CI'] || spawnSync(program, args, { stdio: 'ignore' }).status === 0) return define;
  const leaveOut = (title: string): void => {
    process.stdout.write(`not run here: ${title} (needs ${tool})\n`);
  };
  return leaveOut as unknown as Define;
}
