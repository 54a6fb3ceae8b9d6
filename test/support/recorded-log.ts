import type { Log } from '../../src/lib/log.ts';

/** A log that remembers its sentences, each after its level. */
export interface RecordedLog extends Log {
  readonly lines: string[];
}

export function recordedLog(): RecordedLog {
  const lines: string[] = [];
  const at = (level: string) => (_fields: object, message: string) => void lines.push(`${level}: ${message}`);
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
