import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import type { MarkdownSource } from './markdown-renderer.ts';
import type { MarkdownJob, MarkdownResult } from './markdown-thread.ts';

/** A rendered text; null where it takes too long or is too much to lay out: show the text as it was written. */
export type Html = string | null;

/**
 * Renders markdown in a thread of its own, each text once. A text that takes too long delays no one but
 * those who wait behind it, and them not for longer than the limit: its thread is ended.
 */
export class Markdown {
  readonly #limit: number;
  readonly #rendered = new LRUCache<string, { html: Html }, MarkdownSource>({
    maxSize: 64 * 1024 * 1024,
    sizeCalculation: ({ html }) => (html?.length ?? 0) * 2 + 200,
    fetchMethod: async (_key, _stale, { context }) => ({ html: await this.#inTurn(context) }),
  });
  #worker: Worker | undefined;
  #turn = 0;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** @param limit how long a text may take, in ms */
  constructor(limit = 1000) {
    this.#limit = limit;
  }

  /** The text as safe HTML. */
  async render(source: MarkdownSource): Promise<Html> {
    if (source.text === '') return '';
    const key = createHash('sha256').update(JSON.stringify(source)).digest('base64url');
    return (await this.#rendered.forceFetch(key, { context: source })).html;
  }

  /**
   * The text of a page that is still being written, as safe HTML. It is kept nowhere, and null too while several
   * others wait: the pages of listed bots come first.
   */
  async preview(source: MarkdownSource): Promise<Html> {
    if (source.text === '') return '';
    return this.#waiting < mostWaitingForPreview ? await this.#inTurn(source) : null;
  }

  /** Ends the thread; another text starts one again. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async #inTurn(source: MarkdownSource): Promise<Html> {
    const before = this.#last;
    this.#waiting += 1;
    const html = before.then(async () => await this.#ask(source)).finally(() => (this.#waiting -= 1));
    this.#last = html.catch(() => {});
    return await html;
  }

  async #ask(source: MarkdownSource): Promise<Html> {
    const worker = (this.#worker ??= await startThread());
    const turn = (this.#turn += 1);
    const html = await new Promise<Html | undefined>((resolve) => {
      const settle = (value: Html | undefined): void => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
        resolve(value);
      };
      const onMessage = (result: MarkdownResult): void => {
        if (result.turn === turn) settle(result.html);
      };
      const onEnd = (): void => settle(undefined);
      const timer = setTimeout(onEnd, this.#limit);
      worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
      worker.postMessage({ turn, source } satisfies MarkdownJob);
    });
    if (html !== undefined) return html;
    await this.close();
    return null;
  }
}

const mostWaitingForPreview = 4;

/** Resolves when it is up: its start counts for no text. */
async function startThread(): Promise<Worker> {
  const worker = new Worker(new URL('./markdown-thread.js', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  worker.unref();
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  return worker;
}
