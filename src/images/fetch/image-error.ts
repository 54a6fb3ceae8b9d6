/**
 * Why an image could not be fetched: a sentence without its subject, the address. `blame` says whether the whole host
 * should be left alone for a while, or only this image.
 */
export class ImageError extends Error {
  readonly blame: 'picture' | 'host';

  constructor(message: string, blame: 'picture' | 'host' = 'picture') {
    super(message);
    this.name = 'ImageError';
    this.blame = blame;
  }
}
