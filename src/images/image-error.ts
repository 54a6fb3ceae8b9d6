/**
 * Why a picture could not be had: a sentence without the address, for the log and the index. `blame` says
 * whether the whole host had better be left alone for a while, or just this picture.
 */
export class ImageError extends Error {
  readonly blame: 'picture' | 'host';

  constructor(message: string, blame: 'picture' | 'host' = 'picture') {
    super(message);
    this.name = 'ImageError';
    this.blame = blame;
  }
}
