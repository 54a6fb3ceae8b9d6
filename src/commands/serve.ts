import { once } from 'node:events';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Config, readConfig } from '../app/config.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

/**
 * Runs the service until SIGTERM or SIGINT; a second signal kills it immediately. The exit code is 1 if a part could
 * not close cleanly.
 */
export async function serve(config: Config = readConfig()): Promise<void> {
  // Imported here only, so that an error in the settings is reported in a fraction of the time.
  const [{ createLog }, { startService }, { createProgress }] = await Promise.all([
    import('../lib/log.ts'),
    import('../app/service.ts'),
    import('./output.ts'),
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
  const systemd = config.notifiesSystemd ? createSystemdNotifier(log) : null;
  const service = await startService(config, log, {
    progress: systemd?.progress ?? createProgress(),
  });
  await systemd?.notify('READY=1', `STATUS=ready at ${service.address}`);
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
  await systemd?.notify('STOPPING=1', 'STATUS=stopping');
  try {
    await service.close();
    log.info({}, 'stopped');
  } catch (error) {
    log.error({ err: error }, `stopped, but not cleanly: ${messageOf(error)}; the next start cleans up`);
    process.exitCode = 1;
  }
}

/**
 * Tells systemd the state of the service, for units with `Type=notify`. Node cannot send to systemd's socket, so the
 * program systemd-notify does it, and the unit needs `NotifyAccess=all`. Never throws: systemd then ends the service
 * after `TimeoutStartSec`, and the log says why.
 */
function createSystemdNotifier(log: Log) {
  let last: Promise<void> = Promise.resolve();
  let shownAt = Number.NEGATIVE_INFINITY;
  /** Sends variables such as `READY=1`, after those of earlier calls. */
  const notify = async (...variables: readonly [string, ...string[]]): Promise<void> => {
    last = last.then(async () => {
      try {
        await promisify(execFile)('systemd-notify', variables, { timeout: 10_000 });
      } catch (error) {
        log.error(
          { err: error },
          `could not notify systemd of ${variables[0]}: ${messageOf(error)}; install systemd-notify, or set Type=exec in the unit`,
        );
      }
    });
    await last;
  };
  /** Shows the progress of the start in the unit's status, and asks systemd to wait a minute longer. */
  const show = (text: string): void => {
    if (performance.now() - shownAt < statusIntervalMs) return;
    shownAt = performance.now();
    void notify(`STATUS=${text}`, 'EXTEND_TIMEOUT_USEC=60000000');
  };
  return { notify, progress: { show, end() {} } };
}

const statusIntervalMs = 10_000;
