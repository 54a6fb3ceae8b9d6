import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { StartProgress } from '../app/start-messages.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

/**
 * Tells systemd the state of the service, for units with `Type=notify`. Node cannot send to systemd's socket, so that the
 * program systemd-notify does it: the unit needs `NotifyAccess=all`. Never throws: systemd then ends the service after
 * `TimeoutStartSec`, and the log says why.
 */
export class SystemdNotifier {
  readonly #log: Log;
  #last: Promise<void> = Promise.resolve();
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Sends variables such as `READY=1`, after those of earlier calls. */
  async notify(...variables: readonly [string, ...string[]]): Promise<void> {
    this.#last = this.#last.then(async () => {
      try {
        await promisify(execFile)('systemd-notify', variables, { timeout: 10_000 });
      } catch (error) {
        this.#log.error(
          { err: error },
          `could not notify systemd of ${variables[0]}: ${messageOf(error)}; install systemd-notify, or set Type=exec in the unit`,
        );
      }
    });
    await this.#last;
  }

  /** Shows the progress of the start in the unit's status, and asks systemd to wait a minute longer. */
  readonly progress: StartProgress = {
    show: (text) => {
      if (performance.now() - this.#shownAt < statusIntervalMs) return;
      this.#shownAt = performance.now();
      void this.notify(`STATUS=${text}`, 'EXTEND_TIMEOUT_USEC=60000000');
    },
    end: () => {},
  };
}

const statusIntervalMs = 10_000;
