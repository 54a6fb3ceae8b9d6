import { pino, stdSerializers, stdTimeFunctions } from 'pino';
import { build as pretty } from 'pino-pretty';
import { WritesUnavailableError } from './bot/errors.ts';
import { messageOf } from './system-error.ts';

/** The log of the service: fields for machines and a sentence for people. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Creates a log on standard error: readable lines on a terminal, JSON lines elsewhere. */
export function createLog(): Log {
  if (!process.stderr.isTTY) {
    return pino(
      { base: null, serializers, timestamp: stdTimeFunctions.isoTime },
      pino.destination({ dest: 2, sync: true }),
    );
  }
  return pino(
    { base: null, serializers },
    pretty({ destination: 2, sync: true, translateTime: 'HH:MM:ss', ignore: 'pid,hostname' }),
  );
}

const serializers = { err: describe };

/** Errors that the operator can fix are logged without a stack trace. */
function describe(error: unknown): unknown {
  if (!(error instanceof WritesUnavailableError))
    return error instanceof Error ? stdSerializers.err(error) : error;
  const { name, message, cause } = error;
  return { type: name, message, ...(cause !== undefined && { cause: messageOf(cause) }) };
}

/** A log that writes nothing: for commands with an output of their own, and for tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
