import { messageOf } from '../system-error.ts';
import { decode, type DecodedImage, type ImageKind } from './decode.ts';

/** What the service sends to this process: one picture at a time. */
export interface DecodeRequest {
  readonly bytes: Uint8Array;
  readonly kind: ImageKind;
}

/** What this process sends back: our copy, or a sentence why there is none. */
export type DecodeAnswer = { readonly image: DecodedImage } | { readonly fault: string };

process.on('message', ({ bytes, kind }: DecodeRequest) => {
  decode(bytes, kind).then(
    (image) => answer({ image }),
    (error: unknown) => answer({ fault: messageOf(error) }),
  );
});

function answer(value: DecodeAnswer): void {
  process.send?.(value);
}
