import { computeMaxConnections, listen, type ListeningServer } from '../http/server.ts';
import type { Closers } from '../lib/closers.ts';
import { formatAddress } from '../lib/network.ts';
import { type Application, type AppParts, createProbeApp } from './app.ts';
import { toAddressError } from './start-messages.ts';

interface ListenConfig {
  readonly host: string;
  readonly port: number;
  readonly accessLog: boolean;
}

/**
 * Starts to listen: for probes first, where they have a port of their own, then for everything else.
 * @param closers gets what closes the probes
 * @returns the address of the application, such as http://127.0.0.1:8080, and its server, which the caller closes
 * @throws {UserError} when an address cannot be listened on, with the setting to change
 */
export async function openServers(
  { handle, rewrite }: Application,
  parts: AppParts & { readonly config: ListenConfig },
  closers: Closers,
): Promise<{ address: string; server: ListeningServer }> {
  const { config, health, metrics, responses, log } = parts;
  const { host, port, probePort, accessLog } = config;
  const options = { host, maxConnections: computeMaxConnections(), log };
  if (probePort !== null) {
    const probeApp = createProbeApp({ health, metrics, log }).callback();
    const probes = await listen(probeApp, { ...options, port: probePort }).catch((error: unknown) => {
      throw toAddressError(error, host, probePort, 'BOTSHELF_PROBE_PORT');
    });
    closers.own(probes);
    log.info({}, `probes and metrics at ${formatAddress(host, probes.port)}`);
  }
  const server = await listen(handle, { ...options, port, rewrite, accessLog }, responses).catch(
    (error: unknown) => {
      throw toAddressError(error, host, port, 'PORT');
    },
  );
  return { address: formatAddress(host, server.port), server };
}
