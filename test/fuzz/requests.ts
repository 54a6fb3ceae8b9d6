import { match, ok, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { validate } from '../../src/bot/validate.ts';
import { cleanUp } from '../support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { startProvider } from '../support/login-provider.ts';
import { loginEnv, sealSession } from '../support/login-site.ts';
import { testRepository } from '../support/repository.ts';
import { collection, mainPage, pagePath, profile, translation } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { issueTestToken } from '../support/token.ts';
import type { Target } from './fuzzer.ts';
import { cut } from './import-file.ts';
import { schemaWords, split } from './words.ts';

/** A request as it is sent, but for what frames it. */
interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer;
}

/** A service in this process, so that what it runs is counted, and what is sent to it. */
interface FuzzedService {
  /** Sends a request and ensures that the response is one that a stranger may get. */
  readonly send: (sent: SentRequest) => Promise<void>;
  /** The cookie of someone who is logged in. */
  readonly cookie: string;
  /** The token of bot 7, as the header has it. */
  readonly token: string;
}

let opened: Promise<FuzzedService> | undefined;

async function openService(): Promise<FuzzedService> {
  const repo = testRepository({
    [pagePath('7')]: mainPage({ name: 'Homer', authors: ['1'] }),
    [pagePath('7', 'fr')]: translation('Homère', 'Répond.'),
    [pagePath('8')]: mainPage({ name: 'Bart', category: 'music', nsfw: true }),
    [pagePath('9')]: mainPage({ name: 'Lisa', trigger: { prefix: ['!'] } }),
    'collections/a.en.md': collection({ bots: ['7', '8'] }),
    'people/1.json': profile(),
  });
  repo.commit({
    [pagePath('7')]: mainPage({ name: 'Homer', authors: ['1'], website: 'https://example.org/' }),
  });
  repo.git('rm', '-q', pagePath('9'));
  repo.commit({});
  const token = await issueTestToken(repo.folder, '7');
  const baseUrl = 'http://localhost:1';
  const provider = await startProvider(baseUrl);
  const env = { BOTSHELF_BASE_URL: baseUrl, BOTSHELF_TRUST_PROXY: 'on', ...loginEnv(provider.settings) };
  const service = await startTestService({}, { root: repo.folder, env });
  // Until its history is read, the changes of a bot are not there yet.
  await eventually(async () => strictEqual((await service.request('/api/v2/bots/7/changes')).status, 200));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  cleanUp(() => {
    opened = undefined;
    agent.destroy();
  });
  const cookie = `__Host-botshelf=${await sealSession(provider, '77', visitor)}`;
  const send = async ({ method, path, headers = [], body }: SentRequest): Promise<void> => {
    const host = headers.some(([header]) => /^host$/i.test(header)) ? [] : [['Host', 'localhost:1']];
    const logged = service.log().length;
    const options = { method, path, agent, headers: [...host, ...headers].flat() };
    const sent = request(service.address, options).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const isStream = response.headers['content-type'] === 'text/event-stream';
    if (isStream) response.destroy();
    const bytes = isStream ? Buffer.alloc(0) : Buffer.concat((await response.toArray()) as Buffer[]);
    ensureHarmless(response, bytes, headers, [baseUrl, provider.issuer], cookie);
    strictEqual(/^.*"level":[45].*$/m.exec(service.log().slice(logged))?.[0], undefined);
  };
  return { send, cookie, token };
}

/** The name of who is logged in, which is on no page but theirs. */
const visitor = 'Maggie-of-the-session';

function ensureHarmless(
  { statusCode: status = 0, headers }: IncomingMessage,
  bytes: Buffer,
  sent: NonNullable<SentRequest['headers']>,
  origins: readonly string[],
  cookie: string,
): void {
  const has = (name: RegExp): boolean => sent.some(([header]) => name.test(header));
  ok(status >= 200 && status < 500, `status ${status}`);
  if (status === 304) ok(has(/^if-/i));
  if (status === 406) ok(has(/^accept-encoding/i));
  const { location = '/', 'content-type': type = '', 'content-encoding': coding } = headers;
  ok(
    /^\/(?![/\\])/.test(location) || origins.some((origin) => location.startsWith(`${origin}/`)),
    `it leads to ${location}`,
  );
  const isLoggedIn = sent.some(([, value]) => value === cookie);
  if (!isLoggedIn)
    for (const text of headers['set-cookie'] ?? []) ok(!/^__Host-botshelf=[^;]/.test(text), text);
  const decode =
    coding === 'br' ? brotliDecompressSync : coding === 'gzip' ? gunzipSync : (body: Buffer) => body;
  const text = bytes.length === 0 ? '' : decode(bytes).toString();
  if (text === '') return;
  if (type !== 'application/problem+json') strictEqual(headers['x-content-type-options'], 'nosniff');
  ok(isLoggedIn || !text.includes(visitor), 'somebody is logged in');
  if (type === 'application/problem+json') {
    const problem = JSON.parse(text) as { readonly status: number };
    strictEqual(JSON.stringify(validate('problem', problem)), '[]');
    strictEqual(problem.status, status);
  } else if (type.startsWith('application/json')) JSON.parse(text);
  else if (type.startsWith('text/html')) {
    if (status < 300 || status >= 400) match(text, /^<!doctype html>/i);
    ok(!text.includes('<x-fuzz'), 'what was sent is an element of the page');
  } else ok(status < 400, `${status} is ${type}`);
}

const paths = split(
  '/ /categories/fun /collections /collections/a /docs /authors/1 /bots/7 /bots/9 /bots/7/changes /bots/7/badge.svg /bots/7/card.png /compare?bots=7,8 /watch?ids=7,8&bots=a /feeds/watch.atom?ids=7 /add /bots/7/edit /bots/7/translate /add/collection /collections/a/edit /collections/a/translate /my-bots /my-bots/name /proposals/12 /bots/7/token /bots/7/report /review /review/7/77 /login?to=/ /login/callback?code=a&state= /logout /feeds/new.atom /feeds/bot/7.atom /feeds/collection/a.atom /sitemap.xml /sitemaps/1.xml.gz /robots.txt /site.webmanifest /opensearch.xml /.well-known/security.txt /assets/own/a /healthz /readyz /metrics /api /api/openapi.json /api/v1/bots /api/v1/bots/7 /api/v2/bots /api/v2/bots/7 /api/v2/bots/7/counts /api/v2/bots/7/changes /api/v2/counts /api/v2/changes /api/v2/export.ndjson /api/v2/export.ndjson.gz /api/v2/authors/1 /appdata/a.webp',
);
const hostile = split(
  `"><x-fuzz> '<x-fuzz> %22'%3E%3Cx-fuzz%3E % %00 %0d%0a %ff %E2%80%A8 ..%2f %5c //a.example /\\a.example javascript: __proto__`,
);

/** Addresses of the service, with anything in them. */
export async function openQuery(): Promise<Target> {
  const { send } = await (opened ??= openService());
  return {
    words: [
      ...paths,
      ...hostile,
      ...split(
        '?q= &q= &category= &nsfw= &verified= &author= &locale= &sort= &limit= &after= &since= &from= &to= &fields= &bots= &page= &account=other &draft= &proposal= &language= &permissions= &needs= &ids= fun true false -name relevance growth en fr pt-BR x-a 1 1000 7,8 1970-01-01 2026-11-23 "a-b" +-b a* [',
      ),
    ],
    seeds: paths,
    maxLength: 2000,
    test: async (input) =>
      await send({ method: 'GET', path: toPath(input), headers: [['Accept', 'text/html, */*;q=0.1']] }),
  };
}

/** Forms and posts with a token, as one who is logged in sends them: the path in the first line, below it the body. */
export async function openForm(): Promise<Target> {
  const { send, cookie, token } = await (opened ??= openService());
  return {
    words: [
      ...paths.map((path) => `${path}\n`),
      ...hostile,
      ...schemaWords('main-page').map((word) => `&${word.replaceAll('"', '')}`),
      ...split(
        '/send /file /preview &note= &base= &page= &bots= &collection= &locale=en &authors= &preview= &reason=scam &text= &decision=accept &version= %0A + &name= &description=a &category=fun &invite=https%3A%2F%2Fexample.org',
      ),
    ],
    maxLength: 3000,
    test: async (input) => {
      const [line, body] = cut(input);
      const path = toPath(Buffer.from(line));
      const isJson = path.startsWith('/api/');
      const headers = {
        'Content-Type': isJson ? 'application/json' : 'application/x-www-form-urlencoded',
        'Content-Length': String(body.length),
        'Sec-Fetch-Site': 'same-origin',
        Accept: 'text/html',
        ...(isJson ? { Authorization: token } : { Cookie: cookie }),
      };
      await send({ method: 'POST', path, headers: Object.entries(headers), body });
    },
  };
}

/** Headers: method and path in the first line, below it one each. */
export async function openHeaders(): Promise<Target> {
  const { send } = await (opened ??= openService());
  const names = split(
    'Accept Accept-Encoding Accept-Language If-None-Match If-Match If-Modified-Since If-Range Range Host Forwarded X-Forwarded-For X-Forwarded-Proto X-Forwarded-Host X-Real-IP Cookie Authorization Origin Referer Sec-Fetch-Site Content-Type Content-Encoding Last-Event-ID X-HTTP-Method-Override Cache-Control X-Request-Id traceparent',
  );
  return {
    words: [
      ...names.map((name) => `\n${name}: `),
      ...paths,
      ...hostile,
      ...split(
        'GET HEAD OPTIONS DELETE PUT ;q=0 ;q=0.5 ;q="1 ; , * */* text/html application/json text/event-stream application/problem+json gzip br identity deflate en de-CH-1996 zh-Hant x-a * W/ "a" bytes=0-1 bytes=-1 bytes=9-1 1.2.3.4 ::1 [::1]:80 ::ffff:1.2.3.4 for="_a";proto=https unknown __Host-botshelf= __Host-botshelf-login= __Secure-botshelf= eyJhbGciOiJkaXIi bearer',
      ),
      'Thu, 01 Jan 1970 00:00:00 GMT',
    ],
    maxLength: 2000,
    test: async (input) => {
      const [line = '', ...lines] = input.toString('latin1').split('\n');
      const [, method = 'GET', path = '/'] = /^(HEAD|OPTIONS|DELETE|PUT|GET) ?(.*)$/.exec(line) ?? [];
      const headers = new Map<string, string>();
      for (const text of lines) {
        const [, name = '', value = ''] = /^([A-Za-z0-9-]+): ?(.*)$/.exec(text) ?? [];
        if (name !== '' && !framing.test(name))
          headers.set(name.toLowerCase(), value.replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/g, ''));
      }
      await send({ method, path: toPath(Buffer.from(path, 'latin1')), headers: [...headers] });
    },
  };
}

/** Headers that say where a request ends, which are Node's part. */
const framing =
  /^(?:connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-connection)$/i;

/** Returns the path that a client can send of these bytes. */
function toPath(input: Buffer): string {
  const text = input
    .toString('latin1')
    .replaceAll(/[^\u0021-\u00ff]/g, (character) => encodeURIComponent(character));
  return text === '' ? '/' : text;
}
