import { hash } from 'node:crypto';
import type { Body } from '../../http/compression.ts';

/** A file that the service makes, ready to be sent. */
export interface SiteDocument {
  /** The media type, with its parameters. */
  readonly type: string;
  readonly body: Body;
  readonly digest: string;
}

/** A document in one piece. */
export interface SmallDocument extends SiteDocument {
  readonly body: Buffer;
}

/** Makes a document of its bytes. */
export function siteDocument(type: string, body: Buffer): SmallDocument {
  return { type, body, digest: hash('sha1', body, 'base64url') };
}
