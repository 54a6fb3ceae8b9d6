/**
 * Names the steps between which a crash must lose nothing. A test process arms one of them; when the code
 * reaches it, the process is killed as a crash would kill it: no handler runs, nothing is flushed.
 */
let armed: string | undefined;

/** Makes the process die at the failpoint `name`. Called for a test process only, by `serve`. */
export function armFailpoint(name: string): void {
  armed = name;
}

/** Dies here when this failpoint is armed; otherwise costs a comparison. */
export function failpoint(name: string): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
