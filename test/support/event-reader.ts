import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

/** An event as a browser reads it. */
export interface ReadEvent {
  readonly name: string;
  readonly id: string;
  readonly data: string;
}

/** Reads a stream of server-sent events to its end, as a browser does, but does not connect again. */
export class EventReader {
  readonly events: ReadEvent[] = [];
  /** Where it would begin when it connects again. */
  lastId = '';
  /** Resolves once the stream has ended, with whether the service ended it; the connection may have been cut off. */
  readonly ended: Promise<boolean>;
  /** The status of the response; undefined until the stream has ended, 0 where there was no response. */
  status: number | undefined;
  readonly #closing = new AbortController();
  readonly #take: (event: ReadEvent) => void;

  constructor(address: string, lastId = '', take?: (event: ReadEvent) => void) {
    this.lastId = lastId;
    this.#take = take ?? ((event) => void this.events.push(event));
    this.ended = this.#read(address);
  }

  close(): void {
    this.#closing.abort();
  }

  async #read(address: string): Promise<boolean> {
    const headers = {
      Accept: 'text/event-stream',
      ...(this.lastId !== '' && { 'Last-Event-ID': this.lastId }),
    };
    let status = 0;
    let isWhole = false;
    try {
      // `fetch` takes a response that is cut off for a whole one where the connection was to be closed after it.
      const sent = get(address, { headers, signal: this.#closing.signal });
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      status = response.statusCode ?? 0;
      let text = '';
      for await (const piece of response.setEncoding('utf8') as AsyncIterable<string>) {
        text += piece;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        if (status === 200) for (const block of blocks) this.#parse(block);
      }
      isWhole = true;
    } catch {
      // The connection was lost, or closed here.
    }
    this.status = status;
    return isWhole;
  }

  #parse(block: string): void {
    const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/, 2))) as Partial<
      Record<string, string>
    >;
    this.lastId = fields['id'] ?? this.lastId;
    if (fields['data'] !== undefined)
      this.#take({ name: fields['event'] ?? 'message', id: this.lastId, data: fields['data'] });
  }
}
