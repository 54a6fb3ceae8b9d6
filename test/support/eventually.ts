import { setTimeout as rest } from 'node:timers/promises';

/**
 * Waits until `condition` holds and does not throw, looking after 5 ms at first and less often the longer it takes.
 * @throws what it threw last, or that it never held, after `seconds`.
 */
export async function eventually(condition: () => unknown, seconds = 30): Promise<void> {
  // Not from a clock that a test moves.
  const start = process.uptime();
  for (;;) {
    const fault = await faultOf(condition);
    if (fault === undefined) return;
    const waited = process.uptime() - start;
    if (waited > seconds) throw fault;
    // A look may start git, or have a service compute a page: many of them take the time from what is waited for.
    await rest(Math.min(100, 5 + waited * 100));
  }
}

async function faultOf(condition: () => unknown): Promise<Error | undefined> {
  try {
    const holds = await condition();
    return holds === false ? new Error(`this never held: ${condition.toString()}`) : undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
