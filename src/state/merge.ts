import { type Count, type Facts, factsOf, type TokenMark } from './facts.ts';

/**
 * What two states know of a bot, together: the later count and the later token. Whoever merges what, in
 * whatever order and however often, ends with the same facts.
 */
export function mergeFacts(a: Facts, b: Facts): Facts {
  return factsOf(laterCount(a.count, b.count), laterToken(a.token, b.token));
}

/** The later of two counts; of two said at once, the larger. */
export function laterCount(a: Count | undefined, b: Count | undefined): Count | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (b.at - a.at || b.value - a.value) > 0 ? b : a;
}

/** The later of two tokens; of two at once, the revocation, else the greater digest. */
export function laterToken(a: TokenMark | undefined, b: TokenMark | undefined): TokenMark | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.at !== b.at) return b.at > a.at ? b : a;
  if (a.digest === null || b.digest === null) return a.digest === null ? a : b;
  return b.digest > a.digest ? b : a;
}
