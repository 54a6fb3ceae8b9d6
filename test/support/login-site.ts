import { match, strictEqual } from 'node:assert/strict';
import { KeyRing, Sessions } from '../../src/login/login.ts';
import type { LoginSettings } from '../../src/login/provider.ts';
import { freePort } from './loopback.ts';
import { noLogOuts } from './no-log-outs.ts';
import { testRepository, type TestRepository } from './repository.ts';
import { accountId, mainPage, pagePath } from './sample.ts';
import { startTestService, type LocalService } from './service.ts';
import { type ProviderOptions, startProvider, type TestProvider } from './login-provider.ts';
import { type Page, Visitor } from './visitor.ts';

export const homer = '190519304972663312';
export const author = '190519304972664832';
export const stranger = '190519304972664833';

/** A service that people can log in at, its provider, and its repository. */
export interface LoginSite {
  readonly baseUrl: string;
  readonly repo: TestRepository;
  readonly service: LocalService;
  readonly provider: TestProvider;
  /** The secrets that seal the cookies. */
  readonly secrets: readonly string[];
  /** A new visitor who has logged in with an account, and the page of a token (Homer's) that they see then. */
  loggedIn(account: string, path?: string): Promise<LoggedIn>;
  /** A new visitor who has logged in with an account an hour ago. */
  loggedInEarlier(account: string, path: string): Promise<LoggedIn>;
}

/** A visitor who has logged in, and the page that they see. */
export interface LoggedIn {
  readonly visitor: Visitor;
  readonly page: Page;
}

/** Follows the login that the page after a form leads to, for actions of maintainers. */
export async function logInAgain(visitor: Visitor, page: Page, account: string): Promise<Page> {
  strictEqual(page.status, 200);
  match(page.text, /reviewing needs a login of the last hour/);
  const [, to = ''] = /^0; url=(.+)$/.exec(page.headers.get('refresh') ?? '') ?? [];
  return await visitor.logIn(await visitor.go(new URL(to, page.url)), account);
}

const testSecrets = ['a-secret-of-the-tests-which-is-long-enough'];

/** The path of the page of Homer's token. */
export const tokenPath = `/bots/${homer}/token`;

/** Starts a service with one bot, Homer, or with other bots of the same author, and a provider that knows the author. */
export async function openLoginSite(
  more: ProviderOptions & {
    readonly bots?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** More files of the catalogue. */
    readonly files?: Readonly<Record<string, string>>;
    /** Changes the repository before the service starts. */
    readonly prepare?: (repo: TestRepository) => Promise<void>;
    /** The client's secret in the settings of the service. */
    readonly clientSecret?: string;
  } = {},
): Promise<LoginSite> {
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  const provider = await startProvider(baseUrl, more);
  const { clientSecret = provider.settings.clientSecret } = more;
  const login = { ...provider.settings, clientSecret };
  const pages = (more.bots ?? [homer]).map((id) => [pagePath(id), mainPage({ authors: [author] })]);
  const repo = testRepository({ ...Object.fromEntries(pages), ...more.files });
  await more.prepare?.(repo);
  const env = { PORT: String(port), BOTSHELF_BASE_URL: baseUrl, ...loginEnv(login), ...more.env };
  const service = await startTestService({}, { root: repo.folder, env });
  return {
    baseUrl,
    repo,
    service,
    provider,
    secrets: testSecrets,
    loggedIn: async (account, path = tokenPath) => {
      const visitor = new Visitor();
      const page = await visitor.logIn(await visitor.go(`${baseUrl}/login?to=${path}`), account);
      return { visitor, page };
    },
    loggedInEarlier: async (account, path) => {
      const cookie = await sealSession(provider, account, `Person ${account}`, Date.now() - 3_600_000);
      const visitor = new Visitor();
      visitor.cookies.set(new URL(baseUrl).host, new Map([['__Host-botshelf', cookie]]));
      return { visitor, page: await visitor.go(baseUrl + path) };
    },
  };
}

/** Returns the cookie of an account that has logged in at a service with the secrets of tests. */
export async function sealSession(
  { issuer }: TestProvider,
  account: string,
  name: string,
  authenticatedAt = Date.now(),
): Promise<string> {
  const sessions = new Sessions(new KeyRing(testSecrets), issuer, noLogOuts());
  return (await sessions.begin({ id: accountId(account), name, authenticatedAt })).text;
}

/** The environment of a service that people log in at. */
export function loginEnv(
  { issuer, clientId, clientSecret, idClaim }: LoginSettings,
  secrets: readonly string[] = testSecrets,
): Readonly<Record<string, string>> {
  return {
    BOTSHELF_OAUTH_ISSUER: issuer,
    BOTSHELF_OAUTH_CLIENT_ID: clientId,
    BOTSHELF_OAUTH_CLIENT_SECRET: clientSecret,
    BOTSHELF_OAUTH_ID_CLAIM: idClaim,
    BOTSHELF_SECRET: secrets.join(','),
  };
}
