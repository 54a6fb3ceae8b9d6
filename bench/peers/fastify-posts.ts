import { hash } from 'node:crypto';
import { fastify } from 'fastify';
import { Pool } from 'pg';

const pool = new Pool({
  host: '127.0.0.1',
  port: Number(process.env['DATABASE_PORT']),
  user: 'postgres',
  max: 32,
});
const app = fastify();

const update = {
  type: 'object',
  additionalProperties: false,
  required: ['bot'],
  properties: {
    bot: {
      type: 'object',
      additionalProperties: false,
      required: ['count'],
      properties: { count: { type: 'integer', minimum: 0, maximum: 10_000_000_000 } },
    },
  },
};

interface Update {
  readonly Params: { readonly id: string };
  readonly Body: { readonly bot: { readonly count: number } };
}

app.get('/ready', async () => {
  await pool.query('SELECT 1');
  return { ready: true };
});

/** One statement finds the row, checks the token and sets the count; only where it found none a second one says why. */
app.post<Update>('/api/v2/bots/:id', { schema: { body: update } }, async (request, reply) => {
  const { bot } = request.body;
  const digest = hash('sha256', request.headers.authorization ?? '');
  const { rowCount } = await pool.query({
    name: 'count',
    text: 'UPDATE bots SET count = $1, counted_at = now() WHERE id = $2 AND token = $3',
    values: [bot.count, request.params.id, digest],
  });
  if (rowCount === 1) return { bot: { count: bot.count }, commit: null };
  const { rows } = await pool.query('SELECT 1 FROM bots WHERE id = $1', [request.params.id]);
  return await reply.code(rows.length === 0 ? 404 : 401).send({ title: 'no such bot or token' });
});

await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
