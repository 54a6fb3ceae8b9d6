import { styleText } from 'node:util';
import { maskTokens } from '../bot/token.ts';
import type { ReportOptions } from '../check/check.ts';
import { runCommandLineGit } from '../git/run-git.ts';
import { escapeControls, escapeLine, formatCount } from '../lib/text.ts';

/**
 * Returns a text in the colour of a severity, if `stream` is a terminal that shows colours and `NO_COLOR` is not set;
 * otherwise the text itself.
 */
export function colour(severity: keyof typeof colours, text: string, stream?: NodeJS.WritableStream): string {
  return stream === undefined ? text : styleText(colours[severity], text, { stream });
}

/** Writes a warning to standard error. */
export function warn(text: string): void {
  process.stderr.write(`${colour('warning', text, process.stderr)}\n`);
}

const colours = { error: 'red', warning: 'yellow', notice: 'cyan', ok: 'green' } as const;

/** Returns JSON that says the same, and is safe to print. */
export function formatJson(document: unknown, space = 2): string {
  return escapeControls(JSON.stringify(document, null, space));
}

/** Returns a text from outside for one line of output, with tokens masked. */
export function escapeInvisible(text: string): string {
  return escapeLine(maskTokens(text));
}

/** Does work, and shows its progress on standard error. */
async function withProgress<T>(work: (show: (text: string) => void) => Promise<T>): Promise<T> {
  const progress = createProgress();
  try {
    return await work(progress.show);
  } finally {
    progress.end();
  }
}

/** Waits for work. Until it ends, shows what `describe` returns. */
export async function showWhile<T>(describe: () => string, work: Promise<T>): Promise<T> {
  return await withProgress(async (show) => {
    const timer = setInterval(() => show(describe()), minIntervalMs);
    return await work.finally(() => clearInterval(timer));
  });
}

/**
 * Does work on files, and shows how many are done.
 * @param done the verb for a finished file, such as `checked`
 */
export async function showFiles<T>(done: string, work: (onProgress: ShowFiles) => Promise<T>): Promise<T> {
  return await withProgress(
    async (show) =>
      await work((files, share) =>
        show(`${formatCount(files, 'file')} ${done} (${Math.floor(share * 100)} %)`),
      ),
  );
}

/** Receives the number of files that are done, and the share of the work, up to 1. */
export type ShowFiles = NonNullable<ReportOptions['onProgress']>;

/** Runs git as runCommandLineGit does, and shows its own progress, which `args` ask for. */
export async function showGit(
  folder: string,
  args: readonly string[],
  options: Parameters<typeof runCommandLineGit>[2] = {},
): Promise<string> {
  return await withProgress(
    async (onProgress) => await runCommandLineGit(folder, args, { ...options, onProgress }),
  );
}

/**
 * Returns a progress line on `stream`, which is overwritten, also by a line of the log, and removed at the end. It is cut
 * to the width of the terminal. Nothing is written if the stream is not a terminal.
 */
export function createProgress(
  stream: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number } = process.stderr,
): {
  readonly show: (text: string) => void;
  readonly end: () => void;
} {
  if (!stream.isTTY) return { show() {}, end() {} };
  let shown = Number.NEGATIVE_INFINITY;
  return {
    show: (text) => {
      const now = performance.now();
      if (now - shown < minIntervalMs) return;
      shown = now;
      stream.write(`${escapeInvisible(text).slice(0, (stream.columns || 80) - 1)}${clearRest}\r`);
    },
    end: () => {
      if (shown !== Number.NEGATIVE_INFINITY) stream.write(clearRest);
    },
  };
}

/** Milliseconds between two writes. */
const minIntervalMs = 100;

const clearRest = '\u001b[K';
