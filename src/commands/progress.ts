/** One line on a terminal that is written over and over, and is gone in the end. */
export interface Progress {
  show(text: string): void;
  end(): void;
}

/** A progress line on `stream`; one that says nothing when that is no terminal. */
export function progressOn(stream: NodeJS.WritableStream & { readonly isTTY?: boolean }): Progress {
  if (!stream.isTTY) return { show() {}, end() {} };
  let shown = Number.NEGATIVE_INFINITY;
  return {
    show: (text) => {
      const now = performance.now();
      if (now - shown < interval) return;
      shown = now;
      stream.write(`\r${text}${clearRest}`);
    },
    end: () => {
      if (shown !== Number.NEGATIVE_INFINITY) stream.write(`\r${clearRest}`);
    },
  };
}

/** Milliseconds between two writes: smooth to look at, and no work to speak of. */
const interval = 100;

const clearRest = '\u001b[K';
