import { setTimeout as rest } from 'node:timers/promises';

/**
 * Waits until `condition` holds, or no longer throws, looking every few milliseconds.
 * @throws what it last threw, or that it never held, after `seconds`.
 */
export async function eventually(condition: () => unknown, seconds = 15): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const last = attempt(condition);
    if (last === undefined) return;
    if (performance.now() > deadline) throw last;
    await rest(5);
  }
}

function attempt(condition: () => unknown): Error | undefined {
  try {
    return condition() === false ? new Error(`this never held: ${condition.toString()}`) : undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
