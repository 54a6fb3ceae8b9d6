import { hash } from 'node:crypto';

/** A file that the service makes, ready to be sent. */
export interface SiteDocument {
  /** The media type, with its parameters. */
  readonly type: string;
  readonly body: Buffer;
  readonly digest: string;
}

/** Makes a document of its bytes. */
export function siteDocument(type: string, body: Buffer): SiteDocument {
  return { type, body, digest: hash('sha1', body, 'base64url') };
}
