import { parentPort, workerData } from 'node:worker_threads';
import { listAttacks, type Pattern } from './patterns.ts';

/*
 * A thread that posts each of its patterns before it is measured, and then whether its time grows faster than the text.
 * A pattern that hangs is the last one that was posted.
 */

/** Characters: enough that quadratic time is hundreds of times that of other patterns. */
const length = 8192;

function isSlow(pattern: Pattern): boolean {
  const regex = new RegExp(pattern.source, pattern.flags.replace('y', ''));
  const measure = (text: string): number => {
    const started = performance.now();
    if (regex.global) text.replaceAll(regex, '');
    else regex.exec(text);
    return performance.now() - started;
  };
  const measureOften = (text: string): number => Math.min(...Array.from({ length: 5 }, () => measure(text)));
  return listAttacks(pattern).some(
    (attack) =>
      // A pause of the machine is not repeated.
      measure(attack(length)) > 1 && measureOften(attack(length)) > 8 * measureOften(attack(length / 4)),
  );
}

for (const pattern of workerData as readonly Pattern[]) {
  parentPort?.postMessage({ pattern });
  if (isSlow(pattern)) parentPort?.postMessage({ pattern, isSlow: true });
}
