import { join } from 'node:path';
import {
  type Blocked,
  blockedName,
  nothingBlocked,
  parseBlocked,
  printBlocked,
  readBlocked,
} from './blocked.ts';
import { WatchedFile, type WatchedFileOptions } from './watched-file.ts';

export interface WatchedBlockedOptions extends Pick<
  WatchedFileOptions<Blocked | null>,
  'copy' | 'log' | 'onFaults' | 'onChange'
> {
  /** The folder that holds `bots/`. */
  readonly root: string;
  /** The file that the setting names; null for none. */
  readonly file: string | null;
}

/** Who is blocked; null where the file has faults and no valid version is known. */
export class WatchedBlocked extends WatchedFile<Blocked | null> {
  constructor({ root, file, ...options }: WatchedBlockedOptions) {
    super({
      ...options,
      path: file ?? join(root, blockedName),
      initial: null,
      read: async () => {
        const parsed = await readBlocked(root, file);
        if ('faults' in parsed) return { ...parsed, text: null, value: undefined, beside: null };
        const { value } = parsed;
        const text = value === nothingBlocked ? null : printBlocked(value);
        return { text, value, faults: [], beside: null };
      },
      // oxlint-disable-next-line typescript/require-await -- others read more files
      parse: async (bytes) => {
        const parsed = parseBlocked(bytes);
        return 'value' in parsed ? parsed.value : undefined;
      },
    });
  }
}
