import { averageByKind, measureSearchQuality, type Quality } from '../test/support/search-quality.ts';
import { plainRow, type Row } from './row.ts';

/** How well searches rank, by kind of query, and the queries with the worst results. Takes no part of the stage. */
export async function* searchQuality(): AsyncGenerator<Row> {
  const all = await measureSearchQuality();
  const heldOut = all.filter(({ judged }) => judged.heldOut);
  const [ofAll, ofHeldOut] = [averageByKind(all), averageByKind(heldOut)];
  for (const [kind, average] of ofAll) {
    const measured = `${average.toFixed(3)}, held out ${(ofHeldOut.get(kind) ?? 0).toFixed(3)}`;
    const name = `nDCG@5, ${kind === 'all' ? 'all kinds' : kind}`;
    yield kind === 'all' ? { name, measured, goal: '≥ 0.9', met: average >= 0.9 } : plainRow(name, measured);
  }
  const worst = all.toSorted((a, b) => a.gain - b.gain).slice(0, maxWorst);
  for (const quality of worst) yield plainRow(`“${quality.judged.query}”`, describe(quality));
}

/** Names what came, each with its grade, and what was wanted most. */
function describe({ gain, found, judged }: Quality): string {
  const wanted = Object.values(judged.judgements)
    .filter(({ grade }) => grade === 3)
    .map(({ reason }) => reason);
  return `${gain.toFixed(2)}: ${found.join(', ') || 'nothing'}; wanted ${wanted.join(', ')}`;
}

const maxWorst = 10;
