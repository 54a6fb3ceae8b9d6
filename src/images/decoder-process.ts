import { messageOf } from '../system-error.ts';
import { decode, type DecodedImage, type ImageKind } from './decode.ts';

/** A message to this process: one image at a time. */
export interface DecodeRequest {
  readonly bytes: Uint8Array;
  readonly kind: ImageKind;
}

/** The response of this process: the copy, or why there is none. */
export type DecodeResponse = { readonly image: DecodedImage } | { readonly fault: string };

process.on('message', ({ bytes, kind }: DecodeRequest) => {
  decode(bytes, kind).then(
    (image) => respond({ image }),
    (error: unknown) => respond({ fault: messageOf(error) }),
  );
});

function respond(value: DecodeResponse): void {
  process.send?.(value);
}
