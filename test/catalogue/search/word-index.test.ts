import { deepStrictEqual } from 'node:assert/strict';
import { Field } from '../../../src/catalogue/search/postings.ts';
import { PostingsBuilder, WordIndex } from '../../../src/catalogue/search/word-index.ts';
import { TimeSlice } from '../../../src/lib/time-slice.ts';

/** Returns every word that differs by one letter added, removed, replaced or swapped. */
function misspell(word: string): string[] {
  const places = Array.from(
    { length: word.length + 1 },
    (_, i) => [word.slice(0, i), word.slice(i)] as const,
  );
  const all = places.flatMap(([start, end]) => [
    `${start}x${end}`,
    start + end.slice(1),
    `${start}x${end.slice(1)}`,
    `${start}${end.charAt(1)}${end.charAt(0)}${end.slice(2)}`,
  ]);
  return [...new Set(all)].filter((other) => other !== word);
}

describe('the words that are spelled nearly like one', () => {
  for (const word of ['musi', 'music', 'reactionroles'])
    it(`are all that one error makes of “${word}”, with a sign before them too`, async () => {
      const near = misspell(word);
      const builder = new PostingsBuilder();
      for (const [i, other] of [
        word,
        `=${word}`,
        ...near,
        ...near.map((text) => `=${text}`),
        'quiz',
      ].entries())
        builder.add(other, i, Field.name, 0, 0);
      const found: string[] = [];
      await new WordIndex(builder.pack()).forEachNear(word, 1, [''], new TimeSlice(), (text) =>
        found.push(text),
      );
      deepStrictEqual(found.toSorted(), [...near, ...near].toSorted());
    });
});
