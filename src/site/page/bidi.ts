/** Removes the characters that turn the direction of the text around a name, which `dir` and `bdi` set right. */
export function withoutBidiControls(text: string): string {
  return text.replace(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '');
}
