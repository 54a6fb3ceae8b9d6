/**
 * Failpoints name the steps between which a crash must lose nothing. A test arms one of them; when the code reaches it,
 * the process is killed as in a crash: no handler runs, nothing is flushed.
 */
export const failpoints = { armed: '' };

/** Kills the process when this failpoint is armed. */
export function failpoint(name: string): void {
  if (failpoints.armed === name) process.kill(process.pid, 'SIGKILL');
}
