import { messageOf } from '../lib/errors.ts';
import { type CopySize, decode, type DecodedImage } from './decode.ts';

/** A message to this process: one image at a time. */
export interface DecodeRequest {
  readonly bytes: Uint8Array;
  readonly size: CopySize;
}

/** The response of this process: the copy, or why there is none. */
export type DecodeResponse = { readonly image: DecodedImage } | { readonly fault: string };

process.on('message', ({ bytes, size }: DecodeRequest) => {
  decode(bytes, size).then(
    (image) => sendResponse({ image }),
    (error: unknown) => sendResponse({ fault: messageOf(error) }),
  );
});

function sendResponse(value: DecodeResponse): void {
  process.send?.(value);
}
