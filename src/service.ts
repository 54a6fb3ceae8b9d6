import { join } from 'node:path';
import { Catalogue } from './catalogue/catalogue.ts';
import type { Config } from './config.ts';
import { createApp } from './http/app.ts';
import type { Health } from './http/health.ts';
import { listen } from './http/server.ts';
import type { Log } from './log.ts';
import { OperatorFault } from './operator-fault.ts';
import { codeOf, messageOf } from './system-error.ts';

/** The running service. */
export interface Service {
  /** Where it listens, such as http://127.0.0.1:8080. */
  readonly address: string;
  /** Answers what it has, saves what it must, and ends. */
  close(): Promise<void>;
}

/** The service cannot start here; the message is one sentence with the fix. */
export class StartFault extends OperatorFault {
  constructor(message: string) {
    super(message);
    this.name = 'StartFault';
  }
}

/**
 * Starts the service: it listens first, so that probes get an answer, and reads the catalogue then.
 * Resolves when everything is ready.
 * @throws {StartFault} when the address or the catalogue cannot be had
 */
export async function startService(config: Config, log: Log): Promise<Service> {
  const started = performance.now();
  const catalogue = new Catalogue({
    root: config.catalogue,
    log,
    snapshot: join(config.var, 'index.snapshot'),
  });
  const counts = { version: 0, count: () => undefined };
  const { baseUrl, trustProxy } = config;
  const app = createApp({ catalogue, counts, health: healthOf(catalogue), baseUrl, trustProxy, log });
  const server = await listen(app, config).catch((error: unknown) => {
    throw new StartFault(addressFault(error, config));
  });
  const address = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${server.port}`;
  try {
    await catalogue.load();
  } catch (error) {
    await server.close();
    throw new StartFault(
      `the catalogue ${config.catalogue} cannot be read: ${messageOf(error)}. Set BOTSHELF_CATALOGUE to the folder that holds bots/`,
    );
  }
  log.info(
    {
      address,
      bots: catalogue.bots.size,
      faults: catalogue.faults().length,
      ms: Math.round(performance.now() - started),
    },
    `ready at ${address}`,
  );
  return {
    address,
    close: async () => {
      await server.close();
      await catalogue.close();
    },
  };
}

function healthOf(catalogue: Catalogue): Health {
  return {
    parts: () => {
      const { ready, watcherFault, folderFault } = catalogue.status;
      return { catalogue: { ready, faults: [watcherFault, folderFault].filter((fault) => fault !== null) } };
    },
    fileFaults: () => catalogue.faults(),
  };
}

function addressFault(error: unknown, { host, port }: Config): string {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `port ${port} is in use: stop what listens there, or set PORT to another one`;
    case 'EACCES':
      return `port ${port} may not be used: set PORT to one above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine: set HOST to one that is, such as 127.0.0.1`;
    default:
      return `cannot listen on ${host}, port ${port}: ${messageOf(error)}`;
  }
}
