import { messageOf } from '../lib/errors.ts';
import { type CopySize, decode, type DecodedImage, drawShareCard, type ShareCard } from './decode.ts';

/** A message to this process: one image at a time, to decode or to draw. */
export type DecodeRequest =
  | { readonly bytes: Uint8Array; readonly size: CopySize }
  | { readonly card: ShareCard };

/** The response of this process: the image, or why there is none. */
export type DecodeResponse = { readonly image: DecodedImage } | { readonly fault: string };

process.on('message', (request: DecodeRequest) => {
  const making = 'card' in request ? drawShareCard(request.card) : decode(request.bytes, request.size);
  making.then(
    (image) => sendResponse({ image }),
    (error: unknown) => sendResponse({ fault: messageOf(error) }),
  );
});

function sendResponse(value: DecodeResponse): void {
  process.send?.(value);
}
