import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImagePlace } from '../../images/store.ts';
import { isError } from '../../lib/errors.ts';
import type { CurrentCache } from '../../lib/current-cache.ts';
import { FairQueue, SerialQueue } from '../../lib/serial-queue.ts';
import { WorkerPool } from '../../lib/worker-pool.ts';
import type { Html, MarkdownSource, RenderedText, renderMarkdown } from './markdown-renderer.ts';

/** The result for a text that is not listed; undefined if other texts took too long, so that a retry may help. */
export type ProposedHtml = Html | undefined;

/** Returns our copy of an image; undefined without a copy. */
export type FindImage = (url: string) => ImagePlace | undefined;

/** A text with the addresses of its images. Only images with a copy are shown. */
export interface MarkdownText extends Omit<MarkdownSource, 'images'> {
  readonly images: readonly string[];
}

/**
 * Renders Markdown in two threads: pages of listed bots once each, and previews, so that no page waits for a preview.
 * A text that takes too long delays only the texts after it, and only up to the limit, because its thread is ended.
 */
export class Markdown {
  readonly #cache: CurrentCache;
  readonly #copyOf: FindImage;
  readonly #pages: RenderThread;
  readonly #previews: RenderThread;
  readonly #previewQueue = new FairQueue(8);
  readonly #maxWaitMs: number;

  /**
   * @param cache keeps the rendered texts
   * @param limit maximum milliseconds for a text
   * @param maxWaitMs maximum time that a caller waits for a text that is not listed
   */
  constructor(cache: CurrentCache, copyOf: FindImage, limit = 1000, maxWaitMs = 3000) {
    this.#cache = cache;
    this.#copyOf = copyOf;
    this.#maxWaitMs = maxWaitMs;
    this.#pages = new RenderThread(limit, 0);
    this.#previews = new RenderThread(limit, restOfPreview);
  }

  /** Renders a text to safe HTML, and lists its headings. */
  async render(text: MarkdownText, thread = this.#pages): Promise<RenderedText> {
    if (text.text === '') return { html: '', headings: [] };
    const source = this.#withCopies(text);
    const key = `markdown ${hash('sha256', JSON.stringify(source), 'base64url')}`;
    return await this.#cache.get(key, async () => await thread.render(source), { isExact: true });
  }

  /**
   * Renders a text that waits for a review to safe HTML, with the thread and the time limits of previews, and keeps
   * it. Resolves with undefined if rendering takes long; it then continues.
   */
  async renderProposed(text: MarkdownText): Promise<ProposedHtml> {
    return await this.#inTime(this.render(text, this.#previews));
  }

  /**
   * Renders a text that is still being written to safe HTML; addresses take turns. The result is not kept. Resolves
   * with undefined if rendering takes long, or if too many previews wait, of the address or in total.
   */
  async preview(text: MarkdownText, address: string): Promise<ProposedHtml> {
    if (text.text === '') return '';
    const source = this.#withCopies(text);
    const abandoned = AbortSignal.timeout(this.#maxWaitMs);
    const work = async (): Promise<RenderedText> => await this.#previews.render(source, abandoned);
    const html = await this.#inTime(this.#previewQueue.run(address, work)).catch((error: unknown) => {
      if (isError(error, 'queue-full', 'share-full')) return undefined;
      throw error;
    });
    return abandoned.aborted ? undefined : html;
  }

  #withCopies({ images, ...text }: MarkdownText): MarkdownSource {
    const copies = images.flatMap((url) => {
      const copy = this.#copyOf(url);
      return copy === undefined ? [] : [[url, copy] as const];
    });
    return { ...text, images: Object.fromEntries(copies) };
  }

  async #inTime(rendered: Promise<RenderedText>): Promise<ProposedHtml> {
    const tooLate = sleep(this.#maxWaitMs, undefined, { ref: false });
    return (await Promise.race([rendered, tooLate]))?.html;
  }

  /** Ends the threads; the next text starts another. */
  async close(): Promise<void> {
    await Promise.all([this.#pages.close(), this.#previews.close()]);
  }
}

/** Renders texts one after the other in a separate thread, without keeping the results. */
export class RenderThread {
  readonly #limit: number;
  readonly #rest: number;
  readonly #queue = new SerialQueue();
  #pool: WorkerPool<typeof renderMarkdown> | undefined;
  /** Whether the thread is running after the last text. */
  #isStarted = false;
  /** When the next text may begin, by `performance.now()`. */
  #begin = 0;

  /** @param limit maximum milliseconds for a text @param rest the pause after a text, as a multiple of its time */
  constructor(limit: number, rest: number) {
    this.#limit = limit;
    this.#rest = rest;
  }

  /** @param abandoned aborted when nobody waits for the text, which then does not begin */
  async render(source: MarkdownSource, abandoned?: AbortSignal): Promise<RenderedText> {
    return await this.#queue.run(async () => {
      const delay = this.#begin - performance.now();
      if (delay > 0) await sleep(delay, undefined, { ref: false });
      if (abandoned?.aborted) return notRendered;
      this.#pool ??= new WorkerPool(renderer, 'renderMarkdown', { threads: 1, memory: 128 });
      const pool = this.#pool;
      // Starting a thread must not count as time of the text. The pool may still run the last thread, which is ending.
      if (!this.#isStarted) await pool.run(emptySource).catch(async () => await pool.run(emptySource));
      const started = performance.now();
      const rendered = await pool.run(source, AbortSignal.timeout(this.#limit)).catch(() => notRendered);
      this.#isStarted = rendered !== notRendered;
      this.#begin = performance.now() + (performance.now() - started) * this.#rest;
      return rendered;
    });
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#isStarted = false;
    await pool?.close();
  }
}

/** Previews take at most a tenth of the time. */
const restOfPreview = 9;

const renderer = new URL('./markdown-renderer.js', import.meta.url);

export const notRendered: RenderedText = { html: null, headings: [] };

const emptySource: MarkdownSource = { text: '', name: '', images: {} };
