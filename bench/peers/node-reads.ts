import { createServer } from 'node:http';
import { readResponses } from './stored-responses.ts';

const responses = readResponses();

createServer((request, response) => {
  const found = responses.get(request.url ?? '');
  if (found === undefined) {
    response.writeHead(request.url === '/ready' ? 200 : 404).end();
  } else if (request.headers['if-none-match'] === found.etag) {
    response.writeHead(304, found.notModifiedHeaders).end();
  } else {
    response.writeHead(200, { ...found.headers, 'content-length': found.body.length }).end(found.body);
  }
}).listen(Number(process.env['PORT']), '127.0.0.1');
