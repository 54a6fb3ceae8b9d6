import { ok } from 'node:assert/strict';
import { averageByKind, measureSearchQuality } from '../../support/search-quality.ts';

/** Minimum mean nDCG@5 of the judged queries of each kind, and of all. */
const floors = {
  all: 0.92,
  word: 0.95,
  question: 0.82,
  name: 0.95,
  language: 0.9,
  typo: 0.9,
  joined: 0.78,
  phrase: 0.9,
  synonym: 0.9,
};

describe('a search among the bots of the demo and others like those of real lists', () => {
  it('finds first what people want, by every kind of query', async () => {
    const found = averageByKind(await measureSearchQuality());
    for (const [kind, floor] of Object.entries(floors)) {
      const average = found.get(kind) ?? 0;
      ok(average >= floor, `${kind}: nDCG@5 ${average.toFixed(3)} < ${floor}`);
    }
  });
});
