import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './loopback.ts';
import { repositoryIn } from './repository.ts';

/** A Git server, `git http-backend` behind HTTP, for the repositories in a folder. */
export interface GitServer {
  /** The address of the folder, without a slash at its end. */
  readonly address: string;
  /** How it answers from now on: not at all, never to an end, or that nobody may come in. */
  mode: 'serve' | 'cut' | 'hang' | 'refuse';
  /** The name and the password that it asks for, with a colon between them; nobody is asked if left out. */
  login?: string;
}

/** Serves the bare repositories in `folder`, to be read and pushed to by anyone. It ends when the tests of the file are over. */
export async function startGitServer(folder: string, names: readonly string[]): Promise<GitServer> {
  for (const name of names) repositoryIn(`${folder}/${name}`).git('config', 'http.receivepack', 'true');
  const server = createServer((request, response) => {
    switch (state.mode) {
      case 'serve':
        if (isLoggedIn(request)) serve(folder, request, response);
        else refuse(response);
        break;
      case 'cut':
        request.socket.destroy();
        break;
      case 'refuse':
        refuse(response);
        break;
      case 'hang':
        break;
    }
  });
  const isLoggedIn = ({ headers }: IncomingMessage): boolean =>
    state.login === undefined || headers.authorization === `Basic ${btoa(state.login)}`;
  const { port } = await listenOnLoopback(server);
  const state: GitServer = { address: `http://127.0.0.1:${port}`, mode: 'serve' };
  return state;
}

function refuse(response: ServerResponse): void {
  response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
}

/** One call of the CGI program: the request in its environment and input, headers and body from its output. */
function serve(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const backend = spawn('git', ['http-backend'], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(backend.stdin);
  backend.stdin.on('error', () => undefined);
  response.on('close', () => backend.kill());
  let head = Buffer.alloc(0);
  const readHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    backend.stdout.off('data', readHead);
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [, name = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? [];
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
    backend.stdout.pipe(response);
  };
  backend.stdout.on('data', readHead);
}
