import { type DestinationStream, pino, stdSerializers, stdTimeFunctions } from 'pino';
import { BotshelfError, codeOf, messageOf } from './errors.ts';
import { escapeControls, escapeLine } from './text.ts';

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
  /** Whether systemd reads standard error into its journal. */
  readonly isJournal?: boolean;
}

/**
 * Creates a log on standard error. Times are in UTC, as in `2027-01-31T12:00:00.000Z`.
 * @param stream receives the log instead, as JSON lines
 */
export async function createLog(
  { level, format, isJournal = false }: LogSettings = { level: 'info', format: null },
  stream?: DestinationStream,
): Promise<Log> {
  const options = { level, base: null, serializers, timestamp: stdTimeFunctions.isoTime };
  const readable = format === null ? process.stderr.isTTY : format === 'pretty';
  const lines = pino.destination({ dest: 2, sync: true, maxLength: maxUnwrittenBytes });
  // A log on a full disk must not end the service, nor what it was about to do.
  lines.on('error', () => {});
  const safe = { write: (line: string) => lines.write(escapeControls(line)) };
  const plain = isJournal ? toJournal(safe) : safe;
  const log: Log = pino(options, stream ?? (readable ? await openPrettyStream() : plain));
  return log;
}

/** Begins each line with its priority, because the journal takes other lines for information (sd-daemon(3)). */
function toJournal(lines: DestinationStream): DestinationStream {
  return {
    write: (line) => {
      const level = Number(/^\{"level":(\d+)/.exec(line)?.[1]);
      const priority = level >= 50 ? 3 : level >= 40 ? 4 : level >= 30 ? 6 : 7;
      lines.write(`<${priority}>${line}`);
    },
  };
}

/** Of lines that a full disk refuses. */
const maxUnwrittenBytes = 1024 * 1024;

/** Imports its library here: a service seldom writes to a terminal. The library indents all lines but the message. */
async function openPrettyStream(): Promise<DestinationStream> {
  const { build } = await import('pino-pretty');
  const stream = build({
    destination: 2,
    sync: true,
    translateTime: false,
    ignore: 'pid,hostname',
    colorize: process.stderr.isTTY && process.stderr.hasColors(),
  });
  return { write: (line) => void stream.write(`${JSON.stringify(JSON.parse(line, escapeField))}\n`) };
}

function escapeField(key: string, value: unknown): unknown {
  return typeof value === 'string' ? (key === 'msg' ? escapeLine : escapeControls)(value) : value;
}

const serializers = { err: serialiseError };

/** Errors with a complete message are logged without a stack trace. */
function serialiseError(error: unknown): unknown {
  if (!isExplained(error)) return error instanceof Error ? stdSerializers.err(error) : error;
  const { name, message, cause } = error;
  return {
    type: name,
    ...('code' in error && { code: error.code }),
    message,
    ...(cause !== undefined && { cause: messageOf(cause) }),
  };
}

/**
 * Whether the cause of an error is outside the program: the operator, Git, the file system or the network. An error
 * with such a cause explains it.
 */
function isExplained(error: unknown): error is Error {
  return (
    (error instanceof BotshelfError && error.isExplained) ||
    /^E[A-Z\d]+$/.test(codeOf(error) ?? '') ||
    (error instanceof Error && error.cause !== undefined && isExplained(error.cause))
  );
}

/** A log that writes nothing: for commands with an output of their own, and for tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
