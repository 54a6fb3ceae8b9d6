import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { TimeSlice } from '../../lib/time-slice.ts';
import { listElementParts, type IndexedBot } from '../store/bot-index.ts';
import { addBotWords, addPages, type SearchedBot } from './bot-words.ts';
import { PostingsBuilder } from './postings.ts';
import { IndexSegment } from './segment.ts';
import type { PackedIndex } from './word-index.ts';

/** Builds a segment of few bots, one slice of time after the other. */
export async function buildSmallSegment(bots: readonly IndexedBot[]): Promise<IndexSegment> {
  const slice = new TimeSlice();
  const texts = new PostingsBuilder();
  const pages = new PostingsBuilder(maxBotsPerPageWord);
  for (const [number, bot] of bots.entries()) {
    if (slice.isOver) await slice.next();
    const searched = JSON.parse(bot.record.toString()) as SearchedBot;
    addBotWords(texts, number, searched);
    addPages(pages, number, searched);
  }
  return new IndexSegment(bots, texts.pack(), pages.pack());
}

/**
 * Builds a segment of many bots in a thread of its own. Resolves when names, categories and descriptions are indexed;
 * the pages follow, and `complete` resolves when they are there.
 * @param signal ends the thread; then both promises are rejected
 */
export async function buildLargeSegment(
  bots: readonly IndexedBot[],
  signal: AbortSignal,
): Promise<{ readonly segment: IndexSegment; readonly complete: Promise<void> }> {
  signal.throwIfAborted();
  const thread = new BuildThread(signal);
  try {
    const segment = new IndexSegment(bots, await thread.build('texts', bots));
    const complete = thread
      .build('pages', bots)
      .then((pages) => segment.addPages(pages))
      .finally(() => thread.end());
    return { segment, complete };
  } catch (error) {
    thread.end();
    throw error;
  }
}

/** Some bots of an index. The thread responds to the last ones with the index. */
interface Batch {
  readonly what: 'texts' | 'pages';
  readonly json: Uint8Array;
  readonly ends: readonly number[];
  readonly isLast: boolean;
}

class BuildThread {
  readonly #worker = new Worker(new URL(import.meta.url));
  readonly #ended: Promise<never>;
  readonly #end = (): void => void this.#worker.terminate();
  readonly #signal: AbortSignal;
  /** Shared with the thread, and used for one batch after the other. */
  #json = new Uint8Array(new SharedArrayBuffer(0));

  constructor(signal: AbortSignal) {
    this.#worker.unref();
    this.#signal = signal;
    signal.addEventListener('abort', this.#end);
    this.#ended = new Promise((_resolve, reject) => {
      this.#worker.once('error', reject);
      this.#worker.once('exit', () => reject(new Error('the thread that builds the search index has ended')));
    });
    this.#ended.catch(() => {});
  }

  async build(what: Batch['what'], bots: readonly IndexedBot[]): Promise<PackedIndex> {
    const slice = new TimeSlice('service');
    for (let start = 0; ; start += batchSize) {
      if (slice.isOver) await slice.next();
      const bodies = bots
        .slice(start, start + batchSize)
        .map((bot) => (what === 'texts' ? Buffer.concat(listElementParts(bot)) : bot.record));
      let end = 0;
      const ends = bodies.map(({ length }) => (end += length));
      if (end > this.#json.length) this.#json = new Uint8Array(new SharedArrayBuffer(2 * end));
      for (const [i, body] of bodies.entries()) this.#json.set(body, (ends[i] ?? 0) - body.length);
      const isLast = start + batchSize >= bots.length;
      const response = await this.#run({ what, json: this.#json, ends, isLast });
      if (isLast) return response as PackedIndex;
    }
  }

  end(): void {
    this.#signal.removeEventListener('abort', this.#end);
    this.#end();
  }

  async #run(batch: Batch): Promise<unknown> {
    const done = new Promise((resolve) => this.#worker.once('message', resolve));
    this.#worker.postMessage(batch);
    return await Promise.race([done, this.#ended]);
  }
}

/** Bots in a message to the thread: half a megabyte. */
const batchSize = 200;

/** A word of a page counts little, and one that many pages have tells nothing: it would only take up room. */
const maxBotsPerPageWord = 1000;

if (!isMainThread && parentPort) {
  const port = parentPort;
  let builder: PostingsBuilder | undefined;
  let number = 0;
  port.on('message', ({ what, json, ends, isLast }: Batch) => {
    const add = what === 'texts' ? addBotWords : addPages;
    builder ??= new PostingsBuilder(what === 'texts' ? Infinity : maxBotsPerPageWord);
    const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
    let start = 0;
    for (const end of ends) {
      add(builder, number++, JSON.parse(bytes.toString('utf8', start, end)) as SearchedBot);
      start = end;
    }
    if (!isLast) return port.postMessage(null);
    const packed = builder.pack();
    [builder, number] = [undefined, 0];
    const { wordStarts, letters, languages, starts, postings } = packed;
    const arrays = [wordStarts, letters, languages, starts, postings];
    port.postMessage(
      packed,
      arrays.map((array) => array.buffer as ArrayBuffer),
    );
  });
}
