import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Log } from '../log.ts';
import { messageOf } from '../system-error.ts';

/**
 * Tells systemd the state of the service, for units with `Type=notify`. Node cannot send to systemd's socket, so that the
 * program systemd-notify does it: the unit needs `NotifyAccess=all`. Never throws: systemd then ends the service after
 * `TimeoutStartSec`, and the log says why.
 */
export async function notifySystemd(state: 'READY=1' | 'STOPPING=1', log: Log): Promise<void> {
  try {
    await promisify(execFile)('systemd-notify', [state], { timeout: 10_000 });
  } catch (error) {
    log.error(
      { err: error },
      `could not notify systemd of ${state}: ${messageOf(error)}; install systemd-notify, or set Type=exec in the unit`,
    );
  }
}
