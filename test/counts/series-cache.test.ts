import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IncrementalSeries } from '../../src/counts/followed-series.ts';
import { readSeries, writeSeries } from '../../src/counts/series-cache.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the cache of counts over time', () => {
  it('is read as it was written, and not at all with one flipped bit', async () => {
    const path = join(tempFolder(), 'count-history');
    const homer = botId('312');
    const written = new IncrementalSeries();
    written.restore([{ period: 7, tree: 'a'.repeat(40) }]);
    written.counts.add(homer, 7, 156);
    written.counts.add(homer, 9, 157);
    await writeSeries(path, [written]);
    const read = new IncrementalSeries();
    strictEqual(await readSeries(path, [read]), true);
    deepStrictEqual([read.read, read.counts.changes(homer)], [written.read, written.counts.changes(homer)]);
    const bytes = readFileSync(path);
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      writeFileSync(
        path,
        bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)),
      );
      const damaged = new IncrementalSeries();
      strictEqual(await readSeries(path, [damaged]), false, `bit ${bit}`);
      strictEqual(damaged.counts.size, 0);
    }
  });
});
