import { Pool } from 'pg';
import { serveCounts } from './count-server.ts';

const pool = new Pool({
  host: '127.0.0.1',
  port: Number(process.env['DATABASE_PORT']),
  user: 'postgres',
  max: 32,
});

await serveCounts({
  /** One statement finds the row, checks the token and sets the count; only where it found none a second one says why. */
  setCount: async (id, tokenDigest, count) => {
    const { rowCount } = await pool.query({
      name: 'count',
      text: 'UPDATE bots SET count = $1, counted_at = now() WHERE id = $2 AND token = $3',
      values: [count, id, tokenDigest],
    });
    if (rowCount === 1) return 'done';
    const { rows } = await pool.query('SELECT 1 FROM bots WHERE id = $1', [id]);
    return rows.length === 0 ? 'no bot' : 'other token';
  },
  flushes: async () => {
    const { rows } = await pool.query<{ wal_sync: string }>('SELECT wal_sync FROM pg_stat_wal');
    return Number(rows[0]?.wal_sync);
  },
});
