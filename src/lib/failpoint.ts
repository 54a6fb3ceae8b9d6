/**
 * Failpoints name the steps between which a crash must lose nothing. A test arms one of them; when the code reaches it,
 * the process is killed as in a crash: no handler runs, nothing is flushed.
 */
let armed: string | undefined;

/** Arms the failpoint `name`. Called by `serve`, in test processes only. */
export function armFailpoint(name: string): void {
  armed = name;
}

/** Kills the process when this failpoint is armed. */
export function failpoint(name: string): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
