import { BotshelfError } from '../lib/errors.ts';
/**
 * Why an image could not be fetched: a sentence without its subject, the address. `retry` says what waits before it is
 * requested again: this image, or every image of its host. An SVG is never retried, because no copies of SVGs are made.
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
