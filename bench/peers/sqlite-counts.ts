import { serveCounts } from './count-server.ts';
import { openSqlite } from './sqlite.ts';

const database = openSqlite(process.argv[2] ?? '');
const begin = database.prepare('BEGIN IMMEDIATE');
const commit = database.prepare('COMMIT');
const update = database.prepare('UPDATE bots SET count = ?, counted_at = ? WHERE id = ? AND token = ?');
const find = database.prepare('SELECT 1 FROM bots WHERE id = ?');

/** The writes of this tick: they become one transaction. */
let waiting: (() => () => void)[] = [];
let transactions = 0;

function writeAll(): void {
  const writes = waiting;
  waiting = [];
  begin.run();
  const responses = writes.map((write) => write());
  commit.run();
  transactions++;
  for (const respond of responses) respond();
}

await serveCounts({
  setCount: async (id, tokenDigest, count) =>
    await new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(writeAll);
      waiting.push(() => {
        const { changes } = update.run(count, Date.now(), id, tokenDigest);
        const result = changes === 1 ? 'done' : find.get(id) === undefined ? 'no bot' : 'other token';
        return () => resolve(result);
      });
    }),
  // With a write-ahead log and synchronous=FULL, a transaction flushes once.
  flushes: async () => transactions,
});
