import { formatAddress } from '../lib/base-url.ts';
import type { Config } from './config.ts';
import type { Health } from './health-routes.ts';
import type { ResponseCache } from '../http/response-cache.ts';
import { computeMaxConnections, listen } from '../http/server.ts';
import type { Log } from '../lib/log.ts';
import type { Metrics } from './metrics.ts';
import { type Application, createProbeApp } from './app.ts';
import type { Closers } from './closers.ts';
import { toAddressError } from './start-errors.ts';

export interface Served extends Application {
  readonly health: Health;
  readonly metrics: Metrics;
  /** The cache in front of the application. */
  readonly responses: ResponseCache;
}

/**
 * Starts to listen: for probes first, where they have a port of their own, then for everything else.
 * @returns the address of the application, such as http://127.0.0.1:8080
 * @throws {UserError} when an address cannot be listened on
 */
export async function openServers(
  config: Config,
  { app, rewrite, health, metrics, responses }: Served,
  closers: Closers,
  log: Log,
): Promise<string> {
  const { host, port, probePort, accessLog } = config;
  const options = { host, maxConnections: computeMaxConnections(), log };
  if (probePort !== null) {
    const probeApp = createProbeApp({ health, metrics, log });
    const probes = await listen(probeApp, { ...options, port: probePort }).catch((error: unknown) => {
      throw toAddressError(error, { host, port: probePort }, 'BOTSHELF_PROBE_PORT');
    });
    closers.add(async () => await probes.close());
    log.info({}, `probes and metrics at ${formatAddress(host, probes.port)}`);
  }
  const server = await listen(app, { ...options, port, rewrite, accessLog }, responses).catch(
    (error: unknown) => {
      throw toAddressError(error, config, 'PORT');
    },
  );
  closers.add(async () => await server.close());
  return formatAddress(host, server.port);
}
