import { setTimeout as rest } from 'node:timers/promises';

/**
 * Waits until `condition` holds and does not throw, looking every few milliseconds.
 * @throws what it threw last, or that it never held, after `seconds`.
 */
export async function eventually(condition: () => unknown, seconds = 15): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const fault = await faultOf(condition);
    if (fault === undefined) return;
    if (performance.now() > deadline) throw fault;
    await rest(5);
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
