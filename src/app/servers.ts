import { formatAddress } from '../lib/base-url.ts';
import { computeMaxConnections, listen } from '../http/server.ts';
import { type Application, type AppOptions, createProbeApp } from './app.ts';
import type { Closers } from './closers.ts';
import { codeOf, messageOf, UserError } from '../lib/errors.ts';

/**
 * Starts to listen: for probes first, where they have a port of their own, then for everything else.
 * @returns the address of the application, such as http://127.0.0.1:8080
 * @throws {UserError} when an address cannot be listened on, with the setting to change
 */
export async function openServers(
  { app, rewrite }: Application,
  { config, health, metrics, responses, log }: AppOptions,
  closers: Closers,
): Promise<string> {
  const { host, port, probePort, accessLog } = config;
  const options = { host, maxConnections: computeMaxConnections(), log };
  if (probePort !== null) {
    const probeApp = createProbeApp({ health, metrics, log });
    const probes = await listen(probeApp, { ...options, port: probePort }).catch((error: unknown) => {
      throw new UserError(describeAddressError(error, host, probePort, 'BOTSHELF_PROBE_PORT'));
    });
    closers.own(probes);
    log.info({}, `probes and metrics at ${formatAddress(host, probes.port)}`);
  }
  const server = await listen(app, { ...options, port, rewrite, accessLog }, responses).catch(
    (error: unknown) => {
      throw new UserError(describeAddressError(error, host, port, 'PORT'));
    },
  );
  closers.own(server);
  return formatAddress(host, server.port);
}

function describeAddressError(error: unknown, host: string, port: number, setting: string): string {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `port ${port} is in use: stop what listens there, or set ${setting} to another one`;
    case 'EACCES':
      return `port ${port} may not be used: set ${setting} to one above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine: set HOST to one that is, such as 127.0.0.1`;
    default:
      return `cannot listen on ${host}, port ${port}: ${messageOf(error)}`;
  }
}
