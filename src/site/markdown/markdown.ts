import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { SerialQueue } from '../../concurrency/serial-queue.ts';
import { WorkerPool } from '../../concurrency/worker-pool.ts';
import type { MarkdownSource, RenderedMarkdown, renderMarkdown } from './markdown-renderer.ts';

/** A rendered text; null where rendering takes too long or exceeds a limit, so that the text is shown as plain text. */
export type Html = string | null;

export interface RenderedText extends Pick<RenderedMarkdown, 'headings'> {
  readonly html: Html;
}

/**
 * Renders markdown in a thread, each text once. A text that takes too long delays only the texts behind it, and those for
 * no longer than the limit: its thread is ended.
 */
export class Markdown {
  readonly #limit: number;
  readonly #rendered = new LRUCache<string, RenderedText, MarkdownSource>({
    maxSize: 64 * 1024 * 1024,
    sizeCalculation: ({ html, headings }) => (html?.length ?? 0) * 2 + headings.length * 200 + 200,
    fetchMethod: async (_key, _stale, { context }) => await this.#queued(context),
  });
  readonly #queue = new SerialQueue();
  #pool: WorkerPool<typeof renderMarkdown> | undefined;

  /** @param limit milliseconds that a text may take */
  constructor(limit = 1000) {
    this.#limit = limit;
  }

  /** Starts the thread, which takes a while, for a caller that has a text in a moment. */
  start(): void {
    if (this.#pool === undefined) void this.#queued(emptySource).catch(() => {});
  }

  /** Renders a text to safe HTML, and lists its headings. */
  async render(source: MarkdownSource): Promise<RenderedText> {
    if (source.text === '') return { html: '', headings: [] };
    const key = hash('sha256', JSON.stringify(source), 'base64url');
    return await this.#rendered.forceFetch(key, { context: source });
  }

  /**
   * Renders a text that is still being written to safe HTML. The result is not kept, and it is null while several others
   * wait: the pages of listed bots come first.
   */
  async preview(source: MarkdownSource): Promise<Html> {
    if (source.text === '') return '';
    return this.#queue.size < maxQueueForPreview ? (await this.#queued(source)).html : null;
  }

  /** Ends the thread; the next text starts another. */
  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.close();
  }

  async #queued(source: MarkdownSource): Promise<RenderedText> {
    return await this.#queue.run(async () => {
      this.#pool ??= new WorkerPool(renderer, 'renderMarkdown', { threads: 1, memory: 128 });
      const pool = this.#pool;
      // So that the start of the thread does not count as time of the text.
      await pool.run(emptySource);
      const rendered = await pool.run(source, AbortSignal.timeout(this.#limit)).catch(() => null);
      return rendered ?? { html: null, headings: [] };
    });
  }
}

/** A preview is refused while this many texts wait. */
const maxQueueForPreview = 4;

const renderer = new URL('./markdown-renderer.js', import.meta.url);

const emptySource: MarkdownSource = { text: '', name: '', pictures: {} };
