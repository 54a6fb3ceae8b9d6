import { once } from 'node:events';
import { type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import { TimeSlice } from '../../lib/time-slice.ts';
import { listElementParts, type IndexedBot } from '../store/bot-index.ts';
import { addBotWords, addPages, type SearchedBot } from './bot-words.ts';
import { PostingsBuilder } from './postings-builder.ts';
import { IndexSegment } from './segment.ts';
import { type PackedIndex, WordIndex } from './word-index.ts';

/** Builds a segment of few bots, one slice of time after the other. */
export async function buildSmallSegment(bots: readonly IndexedBot[]): Promise<IndexSegment> {
  const slice = new TimeSlice();
  const texts = new PostingsBuilder();
  const pages = new PostingsBuilder(maxPostingsPerPageWord);
  for (const [number, bot] of bots.entries()) {
    if (slice.isOver) await slice.next();
    const searched = JSON.parse(bot.record.toString()) as SearchedBot;
    addBotWords(texts, number, searched);
    addPages(pages, number, searched);
  }
  return new IndexSegment(bots, texts.pack(), pages.pack());
}

/**
 * Builds a segment of many bots in threads. Resolves when names, categories and descriptions are indexed; the pages
 * follow, and `complete` resolves when they are there.
 * @param signal ends the threads; then both promises are rejected
 */
export async function buildLargeSegment(
  bots: readonly IndexedBot[],
  signal: AbortSignal,
): Promise<{ readonly segment: IndexSegment; readonly complete: Promise<void> }> {
  const segment = new IndexSegment(bots, await indexInThread('texts', bots, signal));
  const addIndexOfPages = async (): Promise<void> => {
    segment.indexes.push(new WordIndex(await indexInThread('pages', bots, signal)));
  };
  return { segment, complete: addIndexOfPages() };
}

/** What a thread indexes of each bot. */
type IndexPart = 'texts' | 'pages';

async function indexInThread(
  part: IndexPart,
  bots: readonly IndexedBot[],
  signal: AbortSignal,
): Promise<PackedIndex> {
  signal.throwIfAborted();
  const thread = new Worker(new URL(import.meta.url), { workerData: part });
  thread.unref();
  const request = async (json: string | null): Promise<unknown> => {
    thread.postMessage(json);
    const [response] = await once(thread, 'message', { signal });
    return response;
  };
  try {
    const slice = new TimeSlice('service');
    for (let start = 0; start < bots.length; start += batchSize) {
      if (slice.isOver) await slice.next();
      const records = bots
        .slice(start, start + batchSize)
        .map((bot) => (part === 'texts' ? Buffer.concat(listElementParts(bot)) : bot.record));
      await request(`[${records.join(',')}]`);
    }
    return (await request(null)) as PackedIndex;
  } finally {
    void thread.terminate();
  }
}

/** Bots in a message to the thread: half a megabyte. */
const batchSize = 200;

/** A word of a page counts little, and one that many pages have tells nothing: it would only take up room. */
const maxPostingsPerPageWord = 1000;

/** In a thread: indexes the bots of each message, and responds to the last one, which has none, with the index. */
function indexMessages(part: IndexPart, port: MessagePort): void {
  const builder = new PostingsBuilder(part === 'texts' ? Infinity : maxPostingsPerPageWord);
  const add = part === 'texts' ? addBotWords : addPages;
  let number = 0;
  port.on('message', (json: string | null) => {
    for (const searched of JSON.parse(json ?? '[]') as SearchedBot[]) add(builder, number++, searched);
    if (json !== null) return port.postMessage(null);
    const { text, ...arrays } = builder.pack();
    const moved = Object.values(arrays).map((array) => array.buffer as ArrayBuffer);
    port.postMessage({ text, ...arrays } satisfies PackedIndex, moved);
  });
}

if (parentPort) indexMessages(workerData as IndexPart, parentPort);
