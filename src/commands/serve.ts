import { type Config, readConfig } from '../app/config.ts';
import { armFailpoint } from '../lib/failpoint.ts';
import { messageOf } from '../lib/errors.ts';

/**
 * Runs the service until SIGTERM or SIGINT; a second signal kills it at once. The exit code is 1 when a part could not
 * close cleanly.
 */
export async function serve(config: Config = readConfig()): Promise<void> {
  if (config.failpoint !== null) armFailpoint(config.failpoint);
  // Imported here only, so that an error in the settings is reported in a fraction of the time.
  const [{ createLog }, { startService }, { SystemdNotifier }, { createProgress }] = await Promise.all([
    import('../lib/log.ts'),
    import('../app/service.ts'),
    import('./notify-systemd.ts'),
    import('./progress.ts'),
  ]);
  const log = await createLog(config.log);
  for (const sentence of config.unknown) log.warn({}, sentence);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping');
      stop.abort();
    });
  }
  const systemd = config.notifiesSystemd ? new SystemdNotifier(log) : null;
  const service = await startService(config, log, {
    progress: systemd?.progress ?? createProgress(process.stderr),
  });
  await systemd?.notify('READY=1', `STATUS=ready at ${service.address}`);
  await waitForAbort(stop.signal);
  await systemd?.notify('STOPPING=1', 'STATUS=stopping');
  try {
    await service.close();
    log.info({}, 'stopped');
  } catch (error) {
    log.error({ err: error }, `stopped, but not cleanly: ${messageOf(error)}; the next start cleans up`);
    process.exitCode = 1;
  }
}

async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
