import { parentPort, workerData } from 'node:worker_threads';
import { listAttacks, type Pattern } from './patterns.ts';

/*
 * A thread that posts each of its patterns before it is measured, and then whether its time grows faster than the text.
 * A pattern that hangs is the last one that was posted.
 */

/** Characters: enough that quadratic time is hundreds of times that of other patterns. */
const length = 8192;

/** A pattern that looks at each character once takes a tenth of it. */
const minSlowMs = 1;

function isSlow(pattern: Pattern): boolean {
  const regex = new RegExp(pattern.source, pattern.flags.replace('y', ''));
  const measure = (text: string): number => {
    const started = performance.now();
    if (regex.global) text.replaceAll(regex, '');
    else regex.exec(text);
    return performance.now() - started;
  };
  // A pause of the machine is not repeated.
  const measureOften = (text: string): number => Math.min(...Array.from({ length: 10 }, () => measure(text)));
  return listAttacks(pattern).some((attack) => {
    if (measure(attack(length)) < minSlowMs) return false;
    const time = measureOften(attack(length));
    return time > minSlowMs && time > 8 * measureOften(attack(length / 4));
  });
}

for (const pattern of workerData as readonly Pattern[]) {
  parentPort?.postMessage({ pattern });
  if (isSlow(pattern)) parentPort?.postMessage({ pattern, isSlow: true });
}
