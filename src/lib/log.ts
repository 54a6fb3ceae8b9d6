import { type DestinationStream, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { codeOf, ExplainedError, messageOf } from './errors.ts';

/** The log of the service: fields for machines and a sentence for people. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface LogSettings {
  /** The lowest level that is logged. */
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** JSON lines, or readable ones; null for readable ones on a terminal and JSON elsewhere. */
  readonly format: 'json' | 'pretty' | null;
}

/**
 * Creates a log on standard error. Times are in UTC, as in `2027-01-31T12:00:00.000Z`.
 * @param stream receives the log instead, as JSON lines
 */
export async function createLog(
  { level, format }: LogSettings = { level: 'info', format: null },
  stream?: DestinationStream,
): Promise<Log> {
  const options = { level, base: null, serializers, timestamp: stdTimeFunctions.isoTime };
  const readable = format === null ? process.stderr.isTTY : format === 'pretty';
  const lines = pino.destination({ dest: 2, sync: true, maxLength: maxUnwrittenBytes });
  // A log on a full disk must not end the service, nor what it was about to do.
  lines.on('error', () => {});
  const log: Log = pino(options, stream ?? (readable ? await openPrettyStream() : lines));
  return log;
}

/** Of lines that a full disk does not take. */
const maxUnwrittenBytes = 1024 * 1024;

/** Imports its library here only: a service seldom writes to a terminal. */
async function openPrettyStream(): Promise<DestinationStream> {
  const { build } = await import('pino-pretty');
  return build({
    destination: 2,
    sync: true,
    translateTime: false,
    ignore: 'pid,hostname',
    colorize: process.stderr.isTTY,
  });
}

const serializers = { err: serialiseError };

/** Errors that say all in their message are logged without a stack trace. */
function serialiseError(error: unknown): unknown {
  if (!isExplained(error)) return error instanceof Error ? stdSerializers.err(error) : error;
  const { name, message, cause } = error;
  return { type: name, message, ...(cause !== undefined && { cause: messageOf(cause) }) };
}

/**
 * Whether the cause of an error is outside the program: the operator, Git, the file system or the network. An error
 * with such a cause explains it.
 */
function isExplained(error: unknown): error is Error {
  return (
    error instanceof ExplainedError ||
    /^E[A-Z\d]+$/.test(codeOf(error) ?? '') ||
    (error instanceof Error && error.cause !== undefined && isExplained(error.cause))
  );
}

/** A log that writes nothing: for commands with an output of their own, and for tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
