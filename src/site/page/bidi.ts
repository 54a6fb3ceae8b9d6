/** Removes the control characters that would change the text direction around a name. */
export function withoutBidiControls(text: string): string {
  return text.replace(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '');
}
