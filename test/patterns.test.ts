import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Pattern, readModules, scanPatterns } from './support/patterns.ts';

/** Patterns that take quadratic time, and why they may. */
const allowed: ReadonlyMap<string, string> = new Map([
  [
    String.raw`/:\/\/[^\s/:[\]]*:(?!\d{0,5}(?:[/?#'"]|\s|$))[^\s]*@/g`,
    'removes passwords from at most 10,000 characters: rather too much than too little',
  ],
  [String.raw`/%3A%2F%2F[^\s/]*%40/gi`, 'as the one before'],
]);

/** Files that make patterns of words and characters, for which this test is too simple. */
const makers = [
  'bot/commit-message.js',
  'bot/likeness.js',
  'bot/token.js',
  'catalogue/changes/change-index.js',
  'catalogue/search/words.js',
];

/** Returns the patterns whose time grows faster than the text that they search. */
async function findSlow(patterns: readonly Pattern[]): Promise<string[]> {
  const thread = new Worker(new URL('support/measure-patterns.js', import.meta.url), {
    workerData: patterns,
  });
  const slow = new Set<string>();
  let current = '';
  const limit = setTimeout(() => void thread.terminate(), 60_000);
  thread.on('message', ({ pattern, isSlow }: { pattern: Pattern; isSlow: boolean }) => {
    current = `/${pattern.source}/${pattern.flags}`;
    if (isSlow) slow.add(current);
  });
  const [code] = (await once(thread, 'exit')) as [number];
  clearTimeout(limit);
  strictEqual(code, 0, `${current} does not come to an end`);
  return [...slow].toSorted();
}

describe('a regular expression of src/', () => {
  const modules = readModules();

  it('takes linear time, whatever the text', async () => {
    const all = [...modules.values()].flatMap(scanPatterns);
    ok(all.length > 300);
    const patterns = new Map(all.map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern]));
    deepStrictEqual(await findSlow([...patterns.values()]), [...allowed.keys()].toSorted());
  });

  it('is written as one, not made of a text', () => {
    const made = [...modules].filter(([, text]) => text.includes('RegExp(')).map(([file]) => file);
    deepStrictEqual(made, makers);
  });

  it('is noticed where it takes longer', async () => {
    const slow = [
      / *<[^<]*$/,
      /"(?:[^"\\]|\\.)*"/,
      /\s*,\s*/g,
      /^x(?:a|b)\s*(.*\p{L}.*)$/u,
      /^(?:a|\d)(.*)c\1$/,
    ];
    deepStrictEqual(
      await findSlow(slow.map(({ source, flags }) => ({ source, flags }))),
      slow.map(String).toSorted(),
    );
  });
});
