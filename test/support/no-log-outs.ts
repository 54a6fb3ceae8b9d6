import { silentLog } from '../../src/lib/log.ts';
import { LogOuts } from '../../src/login/login.ts';

/** Returns an empty list of log-outs; the first log-out fails. */
export function noLogOuts(): LogOuts {
  return new LogOuts({ folder: '/dev/null', log: silentLog });
}
