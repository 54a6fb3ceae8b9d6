/** Returns the path of a public address, such as `/bots`; empty where it has none. */
export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}

/** Returns the address of a server on a host and port, without a slash at its end. */
export function formatAddress(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns scheme, host and port of a public address, as browsers send them in Origin. */
export function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}
