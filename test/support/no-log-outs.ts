import { silentLog } from '../../src/lib/log.ts';
import { LogOuts } from '../../src/login/log-outs.ts';

/** Returns log-outs of which there are none; the first one fails. */
export function noLogOuts(): LogOuts {
  return new LogOuts({ folder: '/dev/null', log: silentLog });
}
