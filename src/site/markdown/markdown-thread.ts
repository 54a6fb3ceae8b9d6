import { parentPort } from 'node:worker_threads';
import { type MarkdownSource, renderMarkdown } from './markdown-renderer.ts';

/** A question to the thread and its answer belong together by turn. */
export interface MarkdownJob {
  readonly turn: number;
  readonly source: MarkdownSource;
}

export interface MarkdownResult {
  readonly turn: number;
  /** Null for a text that is too much to lay out. */
  readonly html: string | null;
}

parentPort?.on('message', ({ turn, source }: MarkdownJob) => {
  parentPort?.postMessage({ turn, html: renderMarkdown(source) } satisfies MarkdownResult);
});
// The first message says that the thread is up.
parentPort?.postMessage({ turn: 0, html: '' } satisfies MarkdownResult);
