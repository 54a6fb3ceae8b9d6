/** The code of a system error, such as ENOENT; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** What went wrong, in the error's own words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}
