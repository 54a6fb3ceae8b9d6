import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { BotshelfError } from '../lib/errors.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import type { CopySize, DecodedImage, ShareCard, DecodeResponse, DecodeRequest } from './decode.ts';

/**
 * Decodes and draws images in a separate process, one at a time and at low priority. A crash there does not affect the
 * service, an image that takes too long is killed, and the threads that write files stay free. The process has no
 * environment and therefore no secrets. It starts with the first image, and ends after a while without work or with
 * this process.
 */
export class Decoder {
  #child: ChildProcess | undefined;
  readonly #queue = new SerialQueue();
  #idle: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #timeLimitMs: number;

  /** @param timeLimitMs maximum time for an image before its process is killed */
  constructor(timeLimitMs = 20_000) {
    this.#timeLimitMs = timeLimitMs;
  }

  /** Decodes `bytes` and returns the copy. @throws {ImageError} when it cannot be decoded */
  async decode(bytes: Buffer, size: CopySize): Promise<DecodedImage> {
    return await this.#queue.run(async () => await this.#decodeNow({ bytes, size }));
  }

  /** Draws a share card, and returns it as PNG. @throws {ImageError} when it cannot be drawn */
  async draw(card: ShareCard): Promise<Buffer> {
    return (await this.#queue.run(async () => await this.#decodeNow({ card }))).bytes;
  }

  /** Ends the process; waiting images fail. */
  async close(): Promise<void> {
    this.#closed = true;
    const exited = this.#stop();
    await this.#queue.run(async () => {});
    await exited;
  }

  async #decodeNow(request: DecodeRequest): Promise<DecodedImage> {
    if (this.#closed) throw new ImageError('the image cache is closed');
    clearTimeout(this.#idle);
    this.#child ??= this.#start();
    const response = await requestDecode(this.#child, request, this.#timeLimitMs).catch(
      async (error: unknown) => {
        await this.#stop();
        throw error;
      },
    );
    this.#idle = setTimeout(() => void this.#stop(), idleTimeout).unref();
    if ('fault' in response) throw new ImageError(response.fault);
    const { bytes, width, height } = response.image;
    return { bytes: Buffer.from(bytes), width, height };
  }

  #start(): ChildProcess {
    const child = startProcess();
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#idle);
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}

/** Milliseconds after which a process without work ends. */
const idleTimeout = 30_000;

function startProcess(): ChildProcess {
  const child = fork(fileURLToPath(new URL('decode.js', import.meta.url)), {
    serialization: 'advanced',
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.on('error', () => {});
  child.unref();
  child.channel?.unref();
  try {
    // At the lowest priority, most images would exceed their time on a machine with busy cores.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A service with a lower priority may not raise that of a child; the child keeps the lower one.
  }
  return child;
}

async function requestDecode(
  child: ChildProcess,
  request: DecodeRequest,
  timeLimitMs: number,
): Promise<DecodeResponse> {
  return await new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      child.removeAllListeners('message').off('exit', onExit);
      end();
    };
    const onExit = (): void => settle(() => reject(createExitError()));
    const timer = setTimeout(() => {
      settle(() => reject(new ImageError(`kept the decoder busy for ${timeLimitMs / 1000} s`)));
    }, timeLimitMs);
    child.once('message', (response: DecodeResponse) => settle(() => resolve(response)));
    child.once('exit', onExit);
    child.send(request, (error) => {
      if (error) settle(() => reject(child.pid === undefined ? error : createExitError()));
    });
  });
}

function createExitError(): ImageError {
  return new ImageError('ended the decoder');
}

/**
 * The reason why an image could not be fetched, as a sentence without its subject, the address. `retry` says what is
 * retried later: this image, or all images of its host. An SVG is never retried, because SVGs are not copied.
 */
export class ImageError extends BotshelfError {
  readonly retry: RetryScope;

  constructor(message: string, retry: RetryScope = 'image') {
    super('image-failed', message);
    this.name = 'ImageError';
    this.retry = retry;
  }
}

type RetryScope = 'image' | 'host' | 'never';
