import { hash } from 'node:crypto';
import { fastify } from 'fastify';

/** Where a peer keeps counts. */
export interface CountTable {
  /** Resolves when the count is durable. */
  setCount(id: string, tokenDigest: string, count: number): Promise<'done' | 'no bot' | 'other token'>;
  /** How many times it has waited for the disk to flush. */
  flushes(): Promise<number>;
}

interface Update {
  readonly Params: { readonly id: string };
  readonly Body: { readonly bot: { readonly count: number } };
}

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

/** Serves posts of counts with Fastify, which checks the body against a schema. */
export async function serveCounts(table: CountTable): Promise<void> {
  const app = fastify();
  app.get('/flushes', async () => await table.flushes());
  app.post<Update>('/api/v2/bots/:id', { schema: { body: update } }, async (request, reply) => {
    const { count } = request.body.bot;
    const digest = hash('sha256', request.headers.authorization ?? '');
    const result = await table.setCount(request.params.id, digest, count);
    if (result === 'done') return { bot: { count }, commit: null };
    return await reply.code(result === 'no bot' ? 404 : 401).send({ title: result });
  });
  await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
}
