/**
 * Returns a text without the user names and passwords of the addresses in it. Git repeats the address of a remote in
 * its errors, and a command has it among its arguments. Addresses that are percent-encoded as a whole are covered, and
 * passwords with characters that should be encoded: too much is removed rather than too little.
 */
export function withoutCredentials(text: string): string {
  return text
    .replace(/:\/\/[^\s/]*@/g, '://')
    .replace(passwordWithSlash, '://')
    .replace(/%3A%2F%2F[^\s/]*%40/gi, '%3A%2F%2F');
}

/** An address in which no port follows the first colon. */
const passwordWithSlash = /:\/\/[^\s/:[\]]*:(?!\d{0,5}(?:[/?#'"]|\s|$))[^\s]*@/g;
