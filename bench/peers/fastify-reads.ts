import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { readAnswers } from './read-answers.ts';

const answers = readAnswers();
const app = fastify();

function answer(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const found = answers.get(request.url);
  if (found === undefined) return reply.code(404).send();
  if (request.headers['if-none-match'] === found.etag)
    return reply.code(304).headers(found.notModifiedHeaders).send();
  return reply.headers(found.headers).send(found.body);
}

app.get('/ready', (_, reply) => reply.send({ ready: true }));
app.get('/api/v2/bots', answer);
app.get('/api/v2/bots/:id', answer);
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
