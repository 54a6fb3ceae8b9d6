import { ok } from 'node:assert/strict';
import { averageByKind, measureSearchQuality } from '../../support/search-quality.ts';

/** Minimum mean nDCG@5 of the judged queries of each kind, and of all, by fixture. */
const floors = {
  queries: {
    all: 0.93,
    word: 0.95,
    question: 0.82,
    name: 0.95,
    language: 0.9,
    typo: 0.9,
    joined: 0.86,
    phrase: 0.9,
    synonym: 0.9,
  },
  unseen: { all: 0.77, phrase: 0.78, joined: 0.69, question: 0.77, name: 0.97, vocabulary: 0.64 },
} as const;

describe('a search among the bots of the demo and others like those of real lists', () => {
  for (const fixture of ['queries', 'unseen'] as const)
    it(`finds first what people want, by every kind of judged-${fixture}.jsonl`, async () => {
      const found = averageByKind(await measureSearchQuality(fixture));
      const averages = Array.from(found, ([kind, average]) => `${kind} ${average.toFixed(3)}`).join(', ');
      for (const [kind, floor] of Object.entries(floors[fixture]))
        ok((found.get(kind) ?? 0) >= floor, `${kind}: nDCG@5 < ${floor}, of ${averages}`);
    });
});
