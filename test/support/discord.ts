import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { LoginSettings } from '../../src/login/provider.ts';
import { listenOnLoopback } from './loopback.ts';

/**
 * A server that behaves as Discord's documentation says: OAuth 2 with PKCE and `iss`, no id tokens. Its metadata do not
 * say how to send the secret, and it takes a Basic one as it is, not percent-encoded as the standard has it.
 */
export interface TestDiscord {
  readonly issuer: string;
  readonly settings: LoginSettings;
  /** The queries of the requests to authorise. */
  readonly asked: URLSearchParams[];
  /** The body and the status of `/users/@me` from now on. */
  user: unknown;
  userStatus: number;
}

/** Starts it for a service at `baseUrl`, with one user, who consents to everything. It ends when the tests of the file are over. */
export async function startDiscord(baseUrl: string): Promise<TestDiscord> {
  const clientId = '157730590492196864';
  const clientSecret = '937it3ow-87i4ery_69876wqire';
  const redirectUri = `${baseUrl}/login/callback`;
  const codes = new Map<string, string>();
  const tokens = new Set<string>();

  const routes: Readonly<
    Record<string, (url: URL, request: IncomingMessage, response: ServerResponse) => unknown>
  > = {
    'GET /.well-known/oauth-authorization-server': (_url, _request, response) =>
      send(response, 200, {
        issuer: discord.issuer,
        authorization_endpoint: `${discord.issuer}/oauth2/authorize`,
        token_endpoint: `${discord.issuer}/api/oauth2/token`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
      }),
    'GET /oauth2/authorize': ({ searchParams: asked }, _request, response) => {
      discord.asked.push(asked);
      if (asked.get('client_id') !== clientId || asked.get('redirect_uri') !== redirectUri) {
        send(response, 400, { error: 'invalid_request' });
        return;
      }
      const code = randomBytes(15).toString('hex');
      codes.set(code, asked.get('code_challenge') ?? '');
      const back = new URL(redirectUri);
      back.search = new URLSearchParams({
        code,
        state: asked.get('state') ?? '',
        iss: discord.issuer,
      }).toString();
      response.writeHead(302, { Location: back.href }).end();
    },
    'POST /api/oauth2/token': async (_url, request, response) => {
      const body = new URLSearchParams(await text(request));
      const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
      const known = body.get('client_id') === clientId && body.get('client_secret') === clientSecret;
      if (!known && request.headers.authorization !== basic) {
        send(response, 401, { error: 'invalid_client' });
        return;
      }
      const code = body.get('code') ?? '';
      const verifier = createHash('sha256')
        .update(body.get('code_verifier') ?? '')
        .digest('base64url');
      if (codes.get(code) !== verifier || body.get('redirect_uri') !== redirectUri) {
        send(response, 400, { error: 'invalid_grant', error_description: 'Invalid "code" in request.' });
        return;
      }
      codes.delete(code);
      const token = randomBytes(15).toString('base64url');
      tokens.add(token);
      send(response, 200, {
        token_type: 'Bearer',
        access_token: token,
        expires_in: 604_800,
        refresh_token: randomBytes(15).toString('base64url'),
        scope: 'identify',
      });
    },
    'GET /api/users/@me': (_url, request, response) => {
      if (tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? ''))
        send(response, discord.userStatus, discord.user);
      else send(response, 401, { message: '401: Unauthorized', code: 0 });
    },
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', discord.issuer);
    const route = routes[`${request.method} ${url.pathname}`];
    if (route) void route(url, request, response);
    else send(response, 404, { message: '404: Not Found', code: 0 });
  });
  const { port } = await listenOnLoopback(server);
  const issuer = `http://127.0.0.1:${port}`;
  const discord: TestDiscord = {
    issuer,
    settings: { kind: 'discord', issuer, clientId, clientSecret, idClaim: 'id' },
    asked: [],
    user: { id: '80351110224678912', username: 'nelly', discriminator: '0', global_name: 'Nelly' },
    userStatus: 200,
  };
  return discord;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
