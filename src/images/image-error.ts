/**
 * Why an image could not be fetched: a sentence without its subject, the address. `blame` says whether the whole host
 * should be left alone for a while, or only this image; `nobody` where it is an SVG, of which no copies are made.
 */
export class ImageError extends Error {
  readonly blame: Blame;

  constructor(message: string, blame: Blame = 'picture') {
    super(message);
    this.name = 'ImageError';
    this.blame = blame;
  }
}

type Blame = 'picture' | 'host' | 'nobody';
