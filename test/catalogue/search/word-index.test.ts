import { deepStrictEqual } from 'node:assert/strict';
import { botOf, Field } from '../../../src/catalogue/search/postings.ts';
import { PostingsBuilder } from '../../../src/catalogue/search/postings-builder.ts';
import { toLanguageBit } from '../../../src/catalogue/search/stems.ts';
import { WordIndex } from '../../../src/catalogue/search/word-index.ts';
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
  for (const word of ['musi', 'music', 'reactionroles']) {
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
  }
});

describe('the forms of a word', () => {
  it('are the words with its stem, also where the stem ends in another letter than they do', () => {
    const english = toLanguageBit('en');
    const builder = new PostingsBuilder();
    const words = ['currency', 'currencies', 'current', 'play', 'plays', 'played', 'player', 'plaid'];
    for (const [i, word] of words.entries()) builder.add(word, i, Field.name, 0, english);
    const index = new WordIndex(builder.pack());
    const formsOf = (word: string): Set<string | undefined> =>
      new Set(
        index
          .formsOf(word, 1)
          .flatMap(({ postings }) => Array.from(postings, (posting) => words[botOf(posting)])),
      );
    deepStrictEqual(formsOf('plays'), new Set(['play', 'plays', 'played']));
    deepStrictEqual(formsOf('currencies'), new Set(['currency', 'currencies']));
  });
});
