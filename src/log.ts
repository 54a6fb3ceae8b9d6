import { pino, stdTimeFunctions } from 'pino';
import { build as pretty } from 'pino-pretty';

/** What the service says while it runs: fields for machines, one sentence for people. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A log on standard error: readable lines on a terminal, JSON lines elsewhere. */
export function createLog(): Log {
  if (!process.stderr.isTTY) {
    return pino(
      { base: null, timestamp: stdTimeFunctions.isoTime },
      pino.destination({ dest: 2, sync: true }),
    );
  }
  return pino(
    { base: null },
    pretty({ destination: 2, sync: true, translateTime: 'HH:MM:ss', ignore: 'pid,hostname' }),
  );
}

/** A log that says nothing: for commands whose output is their answer, and for tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
