import { ok, strictEqual } from 'node:assert/strict';
import { type SchemaName } from '../../src/bot/schemas.ts';
import { validate } from '../../src/bot/validate.ts';
import { readConfig } from '../../src/app/config.ts';
// oxlint-disable-next-line no-restricted-imports -- the one place that starts services in this process
import { type Service, startService } from '../../src/app/service.ts';
import { messageOf } from '../../src/lib/errors.ts';
import { createLog } from '../../src/lib/log.ts';
import { testGit } from './opened.ts';
import { testRepository } from './repository.ts';
import { writeFiles } from './temp-folder.ts';
import { type ServiceProcess, startServiceProcess, testSettings } from './service-process.ts';
import { ServiceLog } from './service-log.ts';
import { type RunningService, superviseService } from './running-service.ts';
import { updateRequest } from './token.ts';

/** A running service on a catalogue of its own, and a client for it. */
export interface TestService extends RunningService {
  readonly root: string;
  /** Sends a request, and holds the answer's body against the schema that the path and the status promise. */
  request(path: string, init?: RequestInit): Promise<Answer>;
  /** Updates these keys of a bot as its owner, by such a request. */
  post(id: string, token: string, bot: object): Promise<Answer>;
}

/** A service in the tests' own process. */
export interface LocalService extends TestService {
  /** Stops it, as SIGTERM does. */
  stop(): Promise<void>;
}

/** A service in a process of its own. */
export type TestServiceProcess = TestService & ServiceProcess;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when it is empty. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape
  readonly json: any;
}

/** The remote of a clone, fetched every second and pushed to immediately. */
export const originRemote = {
  BOTSHELF_REMOTE: 'origin',
  BOTSHELF_SYNC_SECONDS: '1',
  BOTSHELF_PUSH_SECONDS: '0',
} as const;

interface ServiceOptions {
  /** The folder of a repository that is there already: the files are written into it, but not committed. */
  readonly root?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a service in this process, on a repository of its own that holds `files`. */
export async function startTestService(
  files: Readonly<Record<string, string | Buffer>>,
  options: ServiceOptions = {},
): Promise<LocalService> {
  const root = prepareRoot(files, options);
  for (const name of Object.keys(options.env ?? {}))
    if (!/^(?:BOTSHELF_|HOST$|PORT$)/.test(name)) throw new Error(`${name} needs a process of its own`);
  const lines = new ServiceLog();
  const config = readConfig({ ...testSettings(root), ...options.env });
  const log = await createLog(config.log, { write: (line) => lines.add(line.trimEnd()) });
  for (const sentence of config.unknown) log.warn({}, sentence);
  let service: Service | undefined;
  const stop = async (): Promise<void> => {
    const running = service;
    service = undefined;
    await running?.close();
  };
  superviseService(lines, async () => {
    try {
      await stop();
      return undefined;
    } catch (error) {
      return `(it did not stop cleanly: ${messageOf(error)})`;
    }
  });
  service = await startService(config, log, { git: testGit() });
  const { address } = service;
  return {
    root,
    address,
    log: () => lines.text,
    expectLog: (pattern) => lines.expect(pattern),
    allowLog: (pattern) => lines.allow(pattern),
    ...clientOf(address),
    stop,
  };
}

/** Starts a service in a process of its own: for tests of signals, kills, limits of processes and exit codes. */
export async function startTestServiceProcess(
  files: Readonly<Record<string, string | Buffer>>,
  options: ServiceOptions & { readonly command?: readonly [string, ...string[]] } = {},
): Promise<TestServiceProcess> {
  const root = prepareRoot(files, options);
  const service = await startServiceProcess(root, options.env, options.command);
  return { ...service, ...clientOf(service.address), root };
}

function prepareRoot(files: Readonly<Record<string, string | Buffer>>, { root }: ServiceOptions): string {
  if (root === undefined) return testRepository(files).folder;
  writeFiles(root, files);
  return root;
}

function clientOf(address: string): Pick<TestService, 'request' | 'post'> {
  return {
    request: async (path, init) => await request(address, path, init),
    post: async (id, token, bot) => await request(address, `/api/v2/bots/${id}`, updateRequest(token, bot)),
  };
}

async function request(address: string, path: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(address + path, init);
  const text = await response.text();
  const json: unknown = text === '' ? undefined : JSON.parse(text);
  const schema = text === '' ? undefined : schemaOf(path, response, init?.method);
  if (schema) {
    const values: unknown[] = Array.isArray(json) ? json : [json];
    for (const value of values)
      strictEqual(JSON.stringify(validate(schema, value)), '[]', `${path} breaks ${schema}`);
  }
  return { status: response.status, headers: response.headers, text, json };
}

function schemaOf(path: string, response: Response, method = 'GET'): SchemaName | undefined {
  if (response.status >= 400) {
    if (path.startsWith('/readyz')) return undefined;
    strictEqual(response.headers.get('content-type'), 'application/problem+json');
    return 'problem';
  }
  const { pathname, searchParams } = new URL(path, 'http://localhost');
  if (!pathname.startsWith('/api/v') || searchParams.has('fields')) return undefined;
  if (pathname.endsWith('.ndjson')) return undefined;
  ok(response.headers.get('content-type')?.startsWith('application/json'));
  if (method === 'POST') return 'update-answer';
  if (/\/(?:counts|collections|commands|stats)$/.test(pathname)) return undefined;
  if (pathname === '/api/v2/changes') return 'catalogue-changes';
  if (pathname.endsWith('/changes')) return 'change-record';
  if (pathname.startsWith('/api/v2/authors')) return 'author';
  if (/^\/api\/v[12]\/bots\/[^/]/.test(pathname)) return 'record';
  return pathname.startsWith('/api/v1') ? 'file-item' : 'list-element';
}
