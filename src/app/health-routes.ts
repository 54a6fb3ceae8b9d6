import type { Router } from '@koa/router';
import type { Fault } from '../catalogue/page/fault.ts';
import type { Version } from './version.ts';

export interface Health {
  readonly build: Version;
  /** A random ID of this process, which tells whether an address leads to it. */
  readonly instance: string;
  /** Each part of the service by name; a fault is a sentence. */
  parts(): Readonly<Record<string, { readonly ready: boolean; readonly faults: readonly string[] }>>;
  /** Every fault of every file. */
  fileFaults(): readonly Fault[];
}

/**
 * `/healthz`: the process responds, with its version and a random ID. `/readyz`: whether every part is ready (else 503),
 * what fails although reads go on, and which files have faults.
 */
export function addHealthRoutes(router: Router, health: Health): void {
  router.get('/healthz', (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { ok: true, ...health.build, instance: health.instance };
  });
  router.get('/readyz', (ctx) => {
    const parts = health.parts();
    const ready = Object.values(parts).every((part) => part.ready);
    const files = health.fileFaults();
    ctx.status = ready ? 200 : 503;
    ctx.set('Cache-Control', 'no-store');
    const faultyFiles = new Set(files.map(({ path }) => path)).size;
    ctx.body = { ready, parts, faultyFiles, files: files.slice(0, maxFiles) };
  });
}

/** Files that a response names, so that a probe of a broken catalogue does not transfer megabytes. */
const maxFiles = 1000;
