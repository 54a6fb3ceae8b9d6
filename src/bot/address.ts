import { parseUrl } from '../lib/network.ts';

/**
 * Returns an address in ASCII, as browsers send it: without invisible characters, with a host in Punycode, and each other
 * character as its escape. The same text if it is in ASCII and all its escapes are complete; undefined if it is no address.
 */
export function toAsciiAddress(text: string): string | undefined {
  if (parseUrl(text) === undefined) return undefined;
  if (asciiAddress.test(text)) return text;
  const escaped = text.replaceAll(invisible, '').replaceAll(/%(?![0-9a-f]{2})/gi, '%25');
  return new URL(escaped).href;
}

const asciiAddress = /^(?:[!-$&-~]|%[0-9a-f]{2})*$/i;
const invisible = /[\u00AD\u200B\u2060\uFEFF\p{Bidi_Control}]/gu;

/** Whether an address is signed and expires, such as that of a file in a chat. */
export function isExpiring(address: string): boolean {
  return expiry.test(address);
}

/** Parameters with the expiry of a signed address of a chat, a cloud storage or a code host. */
const expiry =
  /[?&](?:(?:ex|oe)=[\da-f]{8}\b|(?:x-[a-z]{1,10}-)?(?:expires|expiry|expiration|exp)=\d|se=\d{4}-|jwt=)/i;
