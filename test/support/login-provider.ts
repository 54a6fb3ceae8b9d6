import { generateKeyPairSync } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { LoginSettings } from '../../src/login/provider.ts';
import { listenOnLoopback } from './loopback.ts';

/** How the provider answers requests for a path. */
export type Mood =
  | 'well'
  | 'not at all'
  | 'without end'
  | 'with status 500'
  | 'with status 500 and JSON'
  | 'with HTML';

/** A real authorisation server, where every login name is an account and every password right. */
export interface TestProvider {
  readonly issuer: string;
  /** The settings for a service. */
  readonly settings: LoginSettings;
  /** Every request it got: method, path, and how it was authorised. */
  readonly requests: readonly string[];
  /** From now on requests whose path begins with `path` get this response. */
  answer(path: string, mood: Mood): void;
  /** Goes away: its port is closed until the tests are over. */
  leave(): Promise<void>;
}

export interface ProviderOptions {
  /** The claims of every account, in addition to its id. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** More metadata of the client, in the form of oidc-provider. */
  readonly client?: object;
  readonly clientAuthMethods?: readonly string[];
  /** Whether it has an address with more claims than the token. */
  readonly hasUserInfo?: boolean;
}

/** Starts oidc-provider for a service at `baseUrl`. It ends when the tests of the file are over. */
export async function startProvider(
  baseUrl: string,
  { claims = {}, client = {}, clientAuthMethods, hasUserInfo = true }: ProviderOptions = {},
): Promise<TestProvider> {
  let answer: RequestListener = (_request, response) => response.writeHead(503).end();
  const moods = new Map<string, Mood>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const [path = ''] = url.split('?');
    requests.push(`${method} ${path} ${headers.authorization?.split(' ')[0] ?? ''}`.trim());
    const mood = [...moods].find(([start]) => path.startsWith(start))?.[1] ?? 'well';
    inMood[mood](request, response, answer);
  });
  const { port, close } = await listenOnLoopback(server);
  const issuer = `http://127.0.0.1:${port}`;
  const clientId = 'botshelf';
  const clientSecret = 'a secret of thirty-two characters, at least';
  answer = await createProvider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${baseUrl}/login/callback`],
        id_token_signed_response_alg: 'ES256',
        ...client,
      },
    ],
    // The claims of `profile` alone are not in the token, but on the page of the account.
    claims: {
      openid: ['sub', ...Object.keys(claims).filter((claim) => claim !== 'discord_id')],
      profile: ['name', 'discord_id'],
    },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, name: `Person ${sub}`, ...claims }),
    }),
    ...(clientAuthMethods && { clientAuthMethods }),
    features: { userinfo: { enabled: hasUserInfo } },
    pkce: { required: () => true },
    jwks: { keys: [signingKey()] },
    cookies: { keys: ['the key of the test provider'] },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
  });
  return {
    issuer,
    settings: { kind: 'oidc', issuer, clientId, clientSecret, idClaim: 'sub' },
    requests,
    answer: (path, mood) => void moods.set(path, mood),
    leave: close,
  };
}

/** Without its warnings, which are about what a server for real people has to have. */
async function createProvider(issuer: string, configuration: object): Promise<RequestListener> {
  const { warn } = console;
  console.warn = () => {};
  try {
    const { Provider } = await import('oidc-provider');
    return new Provider(issuer, configuration).callback();
  } finally {
    console.warn = warn;
  }
}

const inMood: Readonly<
  Record<Mood, (...[request, response, answer]: [...Parameters<RequestListener>, RequestListener]) => void>
> = {
  well: (request, response, answer) => answer(request, response),
  'not at all': () => {},
  'without end': (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const more = (): void => {
      while (response.write(' '.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  },
  'with status 500': (_request, response) => void response.writeHead(500).end('{}'),
  'with status 500 and JSON': (_request, response) =>
    void response
      .writeHead(500, { 'Content-Type': 'application/json' })
      .end('{"error":"server_error","error_description":"internal"}'),
  'with HTML': (_request, response) =>
    void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Welcome</h1>'),
};

function signingKey(): object {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'test' };
}
