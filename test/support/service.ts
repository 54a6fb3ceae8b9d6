import { ok, strictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import type { SchemaName } from '../../src/bot/schemas.ts';
import { validate } from '../../src/catalogue/schema.ts';
import type { Config, RemoteConfig } from '../../src/config.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { type Service, startService } from '../../src/service.ts';
import { writeFiles } from './sample.ts';
import { tempFolder } from './temp-folder.ts';

/** A running service on a catalogue of its own, and a client for it. */
export interface TestService {
  readonly root: string;
  readonly address: string;
  /** Sends a request, and holds the answer's body against the schema that the path and the status promise. */
  request(path: string, init?: RequestInit): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when it is empty. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape
  readonly json: any;
}

/** The configuration of a service on `root`, on a free port. */
export function testConfig(root: string, more: Partial<Config> = {}): Config {
  return {
    host: '127.0.0.1',
    port: 0,
    probePort: null,
    baseUrl: 'https://bots.example.org',
    catalogue: root,
    var: join(root, 'var'),
    trustProxy: false,
    rateLimit: 0,
    badTokenLimit: 0,
    stateSeconds: 60,
    stateDays: 30,
    remote: null,
    images: false,
    contact: null,
    dev: false,
    login: null,
    secrets: [],
    failpoint: null,
    unknown: [],
    ...more,
  };
}

/** The remote of a clone, asked every second and pushed to at once. */
export const originRemote: RemoteConfig = {
  remote: 'origin',
  branch: null,
  syncSeconds: 1,
  pushSeconds: 0,
  ack: 'local',
  webhookSecret: null,
};

/** Starts a service on a temp folder that holds `files`; it stops when the tests of the file are over. */
export async function startTestService(
  files: Readonly<Record<string, string | Buffer>>,
  more: { config?: Partial<Config>; log?: Log; root?: string } = {},
): Promise<TestService> {
  const root = more.root ?? tempFolder();
  writeFiles(root, files);
  const service = await startService(testConfig(root, more.config), more.log ?? silentLog);
  services.push(service);
  return {
    root,
    address: service.address,
    request: async (path, init) => await request(service.address, path, init),
  };
}

const services: Service[] = [];

after('stop the services', async () => {
  await Promise.all(services.splice(0).map(async (service) => await service.close()));
});

async function request(address: string, path: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(address + path, init);
  const text = await response.text();
  const json: unknown = text === '' ? undefined : JSON.parse(text);
  const schema = text === '' ? undefined : schemaOf(path, response, init?.method);
  if (schema) {
    const values: unknown[] = Array.isArray(json) ? json : [json];
    for (const value of values)
      strictEqual(JSON.stringify(validate(schema, structuredClone(value))), '[]', `${path} breaks ${schema}`);
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
  ok(response.headers.get('content-type')?.startsWith('application/json'));
  if (method === 'POST') return 'update-answer';
  if (/^\/api\/v[12]\/bots\/[^/]/.test(pathname)) return 'record';
  return pathname.startsWith('/api/v1') ? 'file-item' : 'list-element';
}
