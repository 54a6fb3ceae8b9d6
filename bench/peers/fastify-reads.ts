import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { readResponses } from './stored-responses.ts';

const responses = readResponses();
const app = fastify();

function respond(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const found = responses.get(request.url);
  if (found === undefined) return reply.code(404).send();
  if (request.headers['if-none-match'] === found.etag)
    return reply.code(304).headers(found.notModifiedHeaders).send();
  return reply.headers(found.headers).send(found.body);
}

app.get('/ready', (_, reply) => reply.send({ ready: true }));
app.get('/api/v2/bots', respond);
app.get('/api/v2/bots/:id', respond);
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });
