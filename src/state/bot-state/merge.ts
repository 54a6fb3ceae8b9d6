import { type Count, type Facts, factsOf, type TokenMark } from './facts.ts';

/**
 * What two states know of a bot, together: the later count and the token of the higher generation. The order of
 * merges, and how often they are done, makes no difference.
 */
export function mergeFacts(a: Facts, b: Facts): Facts {
  return factsOf(laterCount(a.count, b.count), mergeTokens(a.token, b.token));
}

/** The later of two counts; of two said at once, the larger. */
export function laterCount(a: Count | undefined, b: Count | undefined): Count | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (b.at - a.at || b.value - a.value) > 0 ? b : a;
}

/**
 * Of two tokens the one of the higher generation, whatever the clocks say. Two different ones of the same generation
 * end both: they were issued by replicas that had not seen each other, and a token that was replaced must not come back.
 */
export function mergeTokens(a: TokenMark | undefined, b: TokenMark | undefined): TokenMark | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.generation !== b.generation) return b.generation > a.generation ? b : a;
  if (a.generation === 0) return laterToken(a, b);
  const later = b.at > a.at ? b : a;
  return a.digest === b.digest || later.digest === null ? later : { ...later, digest: null };
}

/** The later of two tokens without a generation; of two at once, the revocation, else the greater digest. */
function laterToken(a: TokenMark, b: TokenMark): TokenMark {
  if (a.at !== b.at) return b.at > a.at ? b : a;
  if (a.digest === null || b.digest === null) return a.digest === null ? a : b;
  return b.digest > a.digest ? b : a;
}
