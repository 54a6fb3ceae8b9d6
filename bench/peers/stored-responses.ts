import { readFileSync } from 'node:fs';

/** A response that a read peer sends from memory, with the same bytes and headers as ours. */
export interface PeerResponse {
  readonly path: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Those of a 304. */
  readonly notModifiedHeaders: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** As it is handed to the peers in a file. */
export interface StoredResponse {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly base64: string;
}

/** The responses in the file that the command line names, by path. */
export function readResponses(): ReadonlyMap<string, PeerResponse> {
  const stored = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as StoredResponse[];
  return new Map(
    stored.map(({ path, headers, base64 }) => [
      path,
      {
        path,
        headers,
        notModifiedHeaders: Object.fromEntries(
          Object.entries(headers).filter(([name]) => !name.startsWith('content-')),
        ),
        etag: headers['etag'] ?? '',
        body: Buffer.from(base64, 'base64'),
      },
    ]),
  );
}
