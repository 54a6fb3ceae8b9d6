import { formatCount } from '../lib/text.ts';

/**
 * Does work on files, and shows on standard error how many are done.
 * @param done what is done with them, such as `checked`
 */
export async function showFiles<T>(
  done: string,
  work: (onProgress: (files: number) => void) => Promise<T>,
): Promise<T> {
  const progress = createProgress(process.stderr);
  try {
    return await work((files) => progress.show(`${formatCount(files, 'file')} ${done}`));
  } finally {
    progress.end();
  }
}

/**
 * Returns a progress line on `stream`, which is overwritten, also by a line of the log, and removed at the end. Nothing is written when that is not a
 * terminal.
 */
export function createProgress(stream: NodeJS.WritableStream & { readonly isTTY?: boolean }): {
  show(text: string): void;
  end(): void;
} {
  if (!stream.isTTY) return { show() {}, end() {} };
  let shown = Number.NEGATIVE_INFINITY;
  return {
    show: (text) => {
      const now = performance.now();
      if (now - shown < minIntervalMs) return;
      shown = now;
      stream.write(`${text}${clearRest}\r`);
    },
    end: () => {
      if (shown !== Number.NEGATIVE_INFINITY) stream.write(clearRest);
    },
  };
}

/** Milliseconds between two writes. */
const minIntervalMs = 100;

const clearRest = '\u001b[K';
