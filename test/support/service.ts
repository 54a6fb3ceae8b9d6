import { ok, strictEqual } from 'node:assert/strict';
import type { SchemaName } from '../../src/bot/schemas.ts';
import { validate } from '../../src/catalogue/page/schema.ts';
import { testRepository } from './repository.ts';
import { writeFiles } from './sample.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

/** A running service on a catalogue of its own, and a client for it. */
export interface TestService extends ServiceProcess {
  readonly root: string;
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

/** The remote of a clone, fetched every second and pushed to at once. */
export const originRemote = {
  BOTSHELF_REMOTE: 'origin',
  BOTSHELF_SYNC_SECONDS: '1',
  BOTSHELF_PUSH_SECONDS: '0',
} as const;

/** Starts a service on a repository of its own that holds `files`, or on `root`, where they are written but not committed. */
export async function startTestService(
  files: Readonly<Record<string, string | Buffer>>,
  more: {
    readonly root?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly command?: readonly [string, ...string[]];
  } = {},
): Promise<TestService> {
  const root = more.root ?? testRepository(files).folder;
  if (more.root !== undefined) writeFiles(root, files);
  const service = await startServiceProcess(root, more.env, more.command);
  return {
    ...service,
    root,
    request: async (path, init) => await request(service.address, path, init),
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
  if (pathname.endsWith('/counts')) return undefined;
  if (pathname === '/api/v2/changes') return 'catalogue-changes';
  if (pathname.endsWith('/changes')) return 'change-record';
  if (pathname.startsWith('/api/v2/authors/')) return 'author';
  if (/^\/api\/v[12]\/bots\/[^/]/.test(pathname)) return 'record';
  return pathname.startsWith('/api/v1') ? 'file-item' : 'list-element';
}
